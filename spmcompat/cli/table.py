"""Tables for a terminal."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias
from unicodedata import combining, east_asian_width

from spmcompat.errors import printable

Cell: TypeAlias = "str | int | float"
Rows: TypeAlias = "Sequence[tuple[Cell, ...]]"


def table(
    head: Sequence[str], rows: Rows, widest: int | None = None, left: int | None = None
) -> Iterator[str]:
    """Yield the lines of a table with aligned columns.

    Parameters
    ----------
    head : sequence of str
        The titles of the columns.
    rows : sequence of tuples
        The cells. A column contains text only or numbers only.
    widest : int, optional
        The maximum number of characters to show of each cell.
    left : int, optional
        The number of left-aligned columns; the columns after them are right-aligned. By default,
        only numbers are right-aligned.
    """
    texts = [list(head), *([_cut(str(cell), widest) for cell in row] for row in rows)]
    widths = [max(map(_width, column)) for column in zip(*texts, strict=True)]
    to_right = [
        isinstance(cell, int | float) if left is None else column >= left
        for column, cell in enumerate(rows[0] if rows else ())
    ]
    for row in texts if rows else ():
        line = ""
        for text, width, is_right in zip(row, widths, to_right, strict=True):
            space = " " * (width - _width(text))
            line += "  " + (space + text if is_right else text + space)
        yield line.rstrip()


def _cut(text: str, widest: int | None) -> str:
    text = printable(text)
    return text if widest is None or len(text) <= widest else f"{text[:widest]}..."


def _width(text: str) -> int:
    """Return the width of a text in terminal columns."""
    wide = sum(east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(combining(character) > 0 for character in text)
