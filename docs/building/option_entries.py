"""The entries of the options on the site, and the tables of flags, from the table of options.

The file ``docs/options.md`` has tables. On the site, each option is a separate entry, which has an
address, appears in the search, and fits on a narrow screen.
"""

from derive.options import BEGIN, END, notes_of, values_of
from spmcompat.options.help import allowed_text, default_text
from spmcompat.options.option import Option
from spmcompat.options.table import GROUPS, OPTIONS
from spmcompat.releases import DEFAULT


def in_place_of_tables(page: str) -> str:
    """Return the page with entries in place of its tables."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + entries() + after


def entries() -> str:
    """Return an entry for each option, in the groups of ``--help``."""
    parts = []
    for title, options in GROUPS.items():
        parts += [f"### {title}", *(_entry(one) for one in _public(options))]
    return "\n\n".join(parts)


def _public(options: tuple[Option, ...]) -> list[Option]:
    return [option for option in options if not option.name.startswith("_")]


def _entry(option: Option) -> str:
    lines = ["```{confval} " + option.name, f":type: {values_of(option)}"]
    if default := default_text(option).strip():
        lines.append(f":default: `{default}`")
    return "\n".join([*lines, "", " ".join([option.help, *notes_of(option)]), "```"])


def _link(option: Option) -> str:
    return f"{{confval}}`{option.name}`"


def same_flags() -> str:
    """Return all flags that mean the same in both programs, as a table."""
    rows = ["| flag or keyword | default | where |", "|---|---|---|"]
    for option in OPTIONS.values():
        if option.in_reference and option.name not in DEFAULT.retired_options:
            rows += _flag_row(option)
    return "\n".join(rows)


def _flag_row(option: Option) -> list[str]:
    if option.name.startswith("_"):
        return []
    default = default_text(option).strip()
    where = "both" if option.flag and option.keyword else "flag" if option.flag else "Python"
    if option.name in DEFAULT.experimental_flags:
        where = "both; in `sentencepiece` a flag only"
    return [f"| {_link(option)} | {f'`{default}`' if default else ''} | {where} |"]


def new_flags() -> str:
    """Return the options that only this package has, as a table."""
    rows = ["| flag or keyword | values | default |", "|---|---|---|"]
    for option in OPTIONS.values():
        if not option.in_reference:
            default = default_text(option).strip()
            values = allowed_text(option) or values_of(option)
            rows.append(f"| {_link(option)} | {values} | {f'`{default}`' if default else ''} |")
    return "\n".join(rows)


def retired_flags() -> str:
    """Return the flags that the current release takes and ignores, as a list."""
    return "\n".join(
        f"- {_link(OPTIONS[name])}: {OPTIONS[name].help}"
        for name in sorted(DEFAULT.retired_options)
    )


LISTS = {"same": same_flags, "new": new_flags, "retired": retired_flags}
"""The lists that a page may contain, by name."""
