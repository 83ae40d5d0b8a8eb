"""Writes the tables of all options into the documentation.

``python -m spmcompat.options.manual`` writes them into ``docs/options.md``, between two marker
lines. The rest of the page is written by hand.
"""

import sys
from pathlib import Path

from spmcompat.options.help import allowed_text, default_text
from spmcompat.options.option import (
    BOOL,
    BYTES,
    CHOICE,
    FLOAT,
    LIST,
    MODEL_TYPE,
    OBJECT,
    SETTINGS,
    TEXT,
    Option,
)
from spmcompat.options.table import GROUPS
from spmcompat.releases import DEFAULT, RELEASES

PAGE = Path("docs/options.md")
BEGIN = "<!-- written by python -m spmcompat.options.manual -->"
END = "<!-- end of what is written -->"

_TYPES = {
    BOOL: "true, false",
    FLOAT: "number",
    TEXT: "text",
    BYTES: "bytes",
    LIST: "list of texts",
    OBJECT: "object",
    CHOICE: "",
    MODEL_TYPE: "",
}


def tables() -> str:
    """Return the tables of all options in Markdown."""
    parts = []
    for title, options in GROUPS.items():
        lines = [f"### {title}", "", "| option | values | default | meaning |", "|---|---|---|---|"]
        lines += [_row(option) for option in options if not option.name.startswith("_")]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def with_tables(page: str) -> str:
    """Return a page with the current tables between its markers.

    Raises
    ------
    ValueError
        If the page does not have both markers.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no line {BEGIN} with a line {END} after it")
    return f"{before}{BEGIN}\n\n{tables()}\n\n{END}{after}"


def _row(option: Option) -> str:
    default = default_text(option)
    cells = (
        f"`{option.name}`",
        values_of(option),
        f"`{default}`" if default else "",
        " ".join([option.help, *notes_of(option)]),
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def values_of(option: Option) -> str:
    """Return the type of the option and the values it may have."""
    kind = _TYPES.get(option.kind, "whole number")
    return ", ".join(filter(None, [kind, allowed_text(option)]))


def notes_of(option: Option) -> list[str]:
    """Return sentences that say for which models, interfaces and releases the option exists."""
    notes = []
    if option.models:
        notes.append(f"For {' and '.join(option.models)} models.")
    if not option.keyword:
        notes.append("On the command line only.")
    if not option.flag:
        notes.append("In Python only.")
    elif option.name in DEFAULT.experimental_flags:
        notes.append("`sentencepiece` takes it on the command line only.")
    if option.stored_in == SETTINGS and option.in_reference:
        notes.append("A model does not store it.")
    return [*notes, *_release_notes(option)]


def _release_notes(option: Option) -> list[str]:
    """Return a sentence that says which releases have the option, unless all have it."""
    versions, all_versions = option.releases, list(RELEASES)
    if not versions or versions == all_versions:
        return []
    if versions[-1] == all_versions[-1]:
        return [f"In `sentencepiece` since {versions[0]}."]
    if versions[0] == all_versions[0]:
        return [f"In `sentencepiece` up to {versions[-1]}; later releases ignore it."]
    return [f"In `sentencepiece` from {versions[0]} to {versions[-1]}."]


def main() -> int:
    """Write the tables into the page, and return the exit status."""
    try:
        page = with_tables(PAGE.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        print(f"{PAGE}: {error}. Run this in the root of the repository.", file=sys.stderr)
        return 1
    PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
