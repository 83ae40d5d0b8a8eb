"""Write everything that is made from the table of options.

These are the tables in ``docs/options.md``, the signature and the docstring of ``train`` in
``api/training.py``, and the types in ``options/keywords.py``. The rest of these files is written by
hand.
"""

import sys

from derive import signatures
from derive.files import ROOT, write_or_check
from spmcompat.options.help import allowed_text, default_text
from spmcompat.options.option import (
    BOOL,
    BYTES,
    CHOICE,
    FILE,
    FLOAT,
    LIST,
    MODEL_TYPE,
    OBJECT,
    PATH,
    SETTINGS,
    TEXT,
    Option,
)
from spmcompat.options.table import GROUPS
from spmcompat.releases import DEFAULT, RELEASES

BEGIN = "<!-- written by python -m derive.options -->"
END = "<!-- end of what is written -->"
WRITTEN = "Written by python -m derive.options:"

_TYPES = {
    BOOL: "true, false",
    FLOAT: "number",
    TEXT: "text",
    FILE: "path",
    PATH: "path",
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


def generated() -> dict[str, list[tuple[str, str, str]]]:
    """Return the parts of each file: the text before a part, the part, and the text after it."""
    return {
        "docs/options.md": [(f"{BEGIN}\n\n", tables(), f"\n\n{END}")],
        "spmcompat/options/keywords.py": [(f"# {WRITTEN}\n\n", signatures.types(), "")],
        "spmcompat/api/training.py": [
            ("    from spmcompat.options.keywords import (\n", signatures.imports(), "    )\n"),
            (f"    # {WRITTEN}\n", signatures.parameters(), "    **old_options"),
            ("    Parameters\n    ----------\n", signatures.descriptions(), "    **old_options\n"),
        ],
    }


def with_parts(text: str, parts: list[tuple[str, str, str]]) -> str:
    """Return the text of a file with the current parts. If `after` is empty, a part is the last.

    Raises
    ------
    ValueError
        If the file does not contain the text before or after a part.
    """
    for before, part, after in parts:
        begin = text.index(before) + len(before)
        end = text.index(after, begin) if after else len(text)
        text = text[:begin] + part + text[end:]
    return text


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


def files() -> dict[str, bytes]:
    """Return the content of the files, with the current parts."""
    return {
        name: with_parts((ROOT / name).read_text(encoding="utf-8"), parts).encode()
        for name, parts in generated().items()
    }


if __name__ == "__main__":
    sys.exit(write_or_check(files))
