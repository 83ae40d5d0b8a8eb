"""Tables of figures, as text for a terminal and as an HTML page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from spmcompat.cli.table import table

_STYLE = """
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem 1rem;
  font: 16px/1.5 system-ui, sans-serif; }
.wide { overflow-x: auto; margin-bottom: 1.5rem; }
table { border-collapse: collapse; font-size: .875rem; }
th, td { padding: .3rem .65rem; border-bottom: 1px solid #8884; text-align: right;
  white-space: nowrap; }
.left { text-align: left; }
"""


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
    """

    head: Sequence[str]
    rows: Sequence[tuple[str, ...]]
    left: int
    notes: Sequence[str] = ()


def text_of(tables: Sequence[Table]) -> str:
    """Return tables for a terminal, with blank lines between them."""
    parts = []
    for one in tables:
        lines = [*table(one.head, one.rows, left=one.left)]
        lines += [line for note in one.notes for line in ("", f"  {note}")]
        parts.append("".join(f"{line}\n" for line in lines))
    return "\n".join(parts)


def page_of(tables: Sequence[Table], title: str) -> str:
    """Return an HTML page that loads no other files."""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}'
        f"</title><style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>\n"
        + "".join(part for one in tables for part in _html(one))
        + "</body></html>\n"
    )


def _html(one: Table) -> Iterator[str]:
    yield '<div class="wide" tabindex="0"><table>\n'
    for number, row in enumerate((one.head, *one.rows)):
        tag, scope = ("th", ' scope="col"') if number == 0 else ("td", "")
        cells = (
            f"<{tag}{scope}{_class(column < one.left)}>{escape(text)}</{tag}>"
            for column, text in enumerate(row)
        )
        yield f"<tr>{''.join(cells)}</tr>\n"
    yield "</table></div>\n"
    yield from (f"<p>{escape(note)}</p>\n" for note in one.notes)


def _class(is_left: bool) -> str:
    return ' class="left"' if is_left else ""


def show(form: str, value: object) -> str:
    """Return a figure in its format; NaN is shown as ``-``."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if is_nan(value) else form.format(value)


def is_nan(value: object) -> bool:
    """Return whether a value is NaN."""
    return isinstance(value, float) and math.isnan(value)
