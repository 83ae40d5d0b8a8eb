"""Removes the Markdown tables from a text, and writes the words of a text as Markdown tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

_COLUMNS = 4
_ROWS = 10  # after the head
_WORDS = 2  # in a cell
_LONGEST_WORD = 30  # in characters; anything longer is a sentence without spaces
_SLICE = 8


def is_table_line(line: bytes) -> bool:
    """Return whether a line may be a row of a Markdown table: it has at least two bars.

    Bars at the ends of a row are optional. Some lines of code also have two bars.
    """
    return line.count(b"|") > 1


def without_tables(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines that do not belong to a table."""
    return (line for line in lines if not is_table_line(line))


def as_tables(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield Markdown tables that contain the words of the lines, in almost the same order.

    Each table has a head and ten rows of four cells. A cell has up to two words of a line, or up to
    eight characters of a sentence without spaces. The last row may have empty cells. Bars in the
    lines become spaces.
    """
    cells = itertools.chain.from_iterable(map(_cells, lines))
    for number in itertools.count():
        row = list(itertools.islice(cells, _COLUMNS))
        if not row:
            return
        yield _row(row)
        if number % (_ROWS + 1) == 0:
            yield _row(["---"] * _COLUMNS)


def _cells(line: bytes) -> Iterator[str]:
    words: list[str] = []
    for word in line.decode(errors="replace").replace("|", " ").split():
        if len(word) > _LONGEST_WORD:
            yield from _in_slices(word)
        else:
            words.append(word)
        if len(words) == _WORDS:
            yield " ".join(words)
            words.clear()
    if words:
        yield " ".join(words)


def _in_slices(sentence: str) -> Iterator[str]:
    return (sentence[begin : begin + _SLICE] for begin in range(0, len(sentence), _SLICE))


def _row(cells: Sequence[str]) -> bytes:
    padded = [*cells, *[""] * (_COLUMNS - len(cells))]
    return f"| {' | '.join(padded)} |\n".encode()
