"""Tables of figures, as text for a terminal, as an HTML page, and for notebooks."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple, TypeAlias
from unicodedata import category, east_asian_width

from spmcompat.errors import printable
from spmcompat.runtime.terminal import columns

_NARROWEST = 10
"""The least width of the last column."""

_EMOJI = "\ufe0f"
"""Some terminals show a narrow character before this selector as a wide emoji."""

_STYLE = """
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem 1rem;
  font: 16px/1.5 system-ui, sans-serif; }
.wide { overflow-x: auto; margin-bottom: 1.5rem; }
table { border-collapse: collapse; font-size: .875rem; }
th, td { padding: .3rem .65rem; border-bottom: 1px solid #8884; text-align: right;
  white-space: nowrap; }
th.cut, td.cut { text-align: left; }
"""

Cell: TypeAlias = "str | int | float"
Rows: TypeAlias = "Sequence[tuple[Cell, ...]]"


class Table(NamedTuple):
    """A table of texts.

    Attributes
    ----------
    head : sequence of str
        The titles of the columns.
    rows : sequence of tuples of str
        The cells.
    left : int
        The number of left-aligned columns.
    notes : sequence of str
        Sentences below the table.
    title : str
        A line above the table, which only HTML shows.
    """

    head: Sequence[str]
    rows: Sequence[tuple[str, ...]]
    left: int
    notes: Sequence[str] = ()
    title: str = ""


def table(
    head: Sequence[str], rows: Rows, widest: int | None = None, left: int | None = None
) -> Iterator[str]:
    """Yield the lines of a table with aligned columns, which fit the terminal.

    If the table is too wide, its columns become rows. If it has two columns only, or if that does
    not help, the texts in the last column are divided into lines.

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
    if not rows:
        return
    texts = [list(head), *([_cut(str(cell), widest) for cell in row] for row in rows)]
    to_right = [
        isinstance(cell, int | float) if left is None else column >= left
        for column, cell in enumerate(rows[0])
    ]
    if len(head) > 2 and _total(texts) > columns():
        yield from _transposed(texts)
    else:
        yield from _aligned(texts, to_right)


def _widths(texts: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(width_of, column)) for column in zip(*texts, strict=True)]


def _total(texts: Sequence[Sequence[str]]) -> int:
    """Return the width of a table, with two spaces before each column."""
    return sum(width + 2 for width in _widths(texts))


def _transposed(texts: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table whose columns become rows.

    As many of its rows as fit become columns beside each other. The others follow below.
    """
    head, *rows = texts
    widths = [2 + max(map(width_of, row)) for row in rows]
    room = columns() - 2 - max(map(width_of, head))
    begin = 0
    while begin < len(rows):
        end, used = begin + 1, widths[begin]
        while end < len(rows) and used + widths[end] <= room:
            used += widths[end]
            end += 1
        lines = [*zip(head, *rows[begin:end], strict=True)]
        yield from _aligned(lines, [False, *[end - begin > 1] * (end - begin)])
        begin = end
        if begin < len(rows):
            yield ""


def _aligned(texts: Sequence[Sequence[str]], to_right: Sequence[bool]) -> Iterator[str]:
    """Yield the lines of a table. If it is too wide, divide the texts in its last column."""
    *widths, last = _widths(texts)
    start = sum(width + 2 for width in widths) + 2
    room = max(columns() - start, _NARROWEST)
    for *row, end in texts:
        line = ""
        for text, width, is_right in zip(row, widths, to_right, strict=False):
            space = " " * (width - width_of(text))
            line += "  " + (space + text if is_right else text + space)
        first, *more = _divided(end, room)
        space = " " * (min(last, room) - width_of(first))
        yield f"{line}  {space if to_right[-1] else ''}{first}".rstrip()
        yield from (" " * start + part for part in more)


def _divided(text: str, room: int) -> list[str]:
    """Divide a text into lines of at most `room` columns of the terminal."""
    width = width_of(text)
    if width <= room:
        return [text]
    return textwrap.wrap(text, max(room * len(text) // width, 1), break_on_hyphens=False)


def _cut(text: str, widest: int | None) -> str:
    text = printable(text)
    return text if widest is None or len(text) <= widest else f"{text[:widest]}..."


def width_of(text: str) -> int:
    """Return the width of a text in terminal columns.

    Terminals disagree about sequences of characters, such as emoji. The result is the sum of the
    characters, so a text is never wider than that.
    """
    return sum(map(_width_of_character, text))


def _width_of_character(character: str) -> int:
    if character != _EMOJI and category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def text_of_tables(tables: Sequence[Table]) -> str:
    """Format tables for a terminal, with a blank line between two tables."""
    parts = []
    for one in tables:
        lines = [*table(one.head, one.rows, left=one.left)]
        for note in one.notes:
            wrapped = textwrap.wrap(note, columns() - 2, break_on_hyphens=False)
            lines += ["", *(f"  {line}" for line in wrapped)]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def page_of(tables: Sequence[Table], title: str, body: str = "") -> str:
    """Return an HTML page that loads no other files. The body comes before the tables."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{escape(title)}</h1>\n{body}{''.join(map(html_of, tables))}</body></html>\n"
    )


def html_of(one: Table) -> str:
    """Return a table and its notes as HTML."""
    rows = "".join(f"<tr>{''.join(_cells(row, 'td', one.left))}</tr>\n" for row in one.rows)
    head = "".join(_cells(one.head, 'th scope="col"', one.left))
    notes = "".join(f"<p class=note>{escape(note)}</p>\n" for note in one.notes)
    title = f"<caption>{escape(one.title)}</caption>" if one.title else ""
    return (
        f'<div class="wide" tabindex="0"><table>{title}<thead><tr>{head}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>\n{notes}"
    )


def _cells(row: Sequence[str], tag: str, left: int) -> Iterator[str]:
    for column, text in enumerate(row):
        kind = ' class="cut"' if column < left else ""
        yield f"<{tag}{kind}>{escape(text)}</{tag[:2]}>"


def show(form: str, value: object) -> str:
    """Format a value. A truth value becomes "yes" or "no", and NaN becomes "-"."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if is_nan(value) else form.format(value)


def is_nan(value: object) -> bool:
    """Return whether a value is NaN."""
    return isinstance(value, float) and math.isnan(value)
