"""Tokens as lines of a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spmcompat.cli.tables import width_of
from spmcompat.engine import columns
from spmcompat.errors import printable
from spmcompat.tools.evaluate.models import Token
from spmcompat.tools.view.visible import visible

_INDENT = 4
# For each kind of token, the two styles that alternate: black on a light background, of the 256
# colours that terminals have.
_STYLES = {
    kind: [f"\x1b[{line}38;5;16;48;5;{background}m" for background in backgrounds]
    for kind, line, backgrounds in (
        ("", "", (153, 223)),
        ("byte", "", (252, 247)),
        ("unknown", "4;", (217, 210)),
    )
}
_END = "\x1b[0m"


def title_of(name: str, tokens: Sequence[Token]) -> str:
    """Return the name of a model and the number of its tokens."""
    return f"{printable(name)}: {len(tokens):,} token{'s'[: len(tokens) != 1]}"


def rows_of_tokens(tokens: Sequence[Token], *, ids: bool, colour: bool) -> Iterator[str]:
    """Yield indented lines that fit the terminal. A line ends between tokens if possible."""
    room = columns() - _INDENT
    gap = "" if colour else " "
    row, used = "", 0
    for number, token in enumerate(tokens):
        text = visible(token.text)
        if token.kind == "unknown" and not colour:
            text = f"<unk:{text}>"
        if ids:
            text += f"/{token.id}"
        for part in _parts(text, room):
            width = width_of(part)
            if used and used + len(gap) + width > room:
                yield " " * _INDENT + row
                row, used = "", 0
            space = gap if used else ""
            row += space + (_STYLES[token.kind][number % 2] + part + _END if colour else part)
            used += len(space) + width
    yield " " * _INDENT + row


def _parts(text: str, room: int) -> Iterator[str]:
    """Divide a text into parts that fit."""
    part = ""
    for character in text:
        if width_of(part + character) > room:
            yield part
            part = ""
        part += character
    yield part
