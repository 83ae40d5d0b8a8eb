"""Checks a table of counts as a whole.

The rows must be distinct and, in a sorted table, in order. The text must end exactly once, and the
sum of the counts must not be too large.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from spmcompat.counting.rows import (
    AT_TEXT_END,
    LARGEST_COUNT,
    RowHashes,
    count_of_place,
    find_disorder,
    total_count,
)
from spmcompat.errors import BadCountsError, TooLargeError, TrainingError
from spmcompat.stored_counts import arrow

if TYPE_CHECKING:
    import pyarrow as pa

Key: TypeAlias = "tuple[bytes, int, int]"


class CheckedParts:
    """The parts of a table. Each part may be read in its own thread.

    While sorted rows are read, their order is checked. This also ensures that no row occurs twice.
    Only the first and last row of each part are kept for this check.

    Parameters
    ----------
    parts : sequence of iterators of pyarrow.RecordBatch
        The rows, whose values have been checked.
    name : str
        The name of the table in messages.
    is_sorted : bool
        Whether the rows must be in order. If not, `RepeatedRows` must already have checked them.
    is_empty : bool
        Whether the text has no sentence. If so, there must not be any rows.

    Attributes
    ----------
    parts : list of iterators of pyarrow.RecordBatch
        The same rows, which are checked when they are read.
    """

    def __init__(
        self,
        parts: Sequence[Iterator[pa.RecordBatch]],
        name: str,
        is_sorted: bool,
        is_empty: bool = False,
    ) -> None:
        self.parts = [self._checked(number, part) for number, part in enumerate(parts)]
        self._name = name
        self._is_sorted = is_sorted
        self._is_empty = is_empty
        self._edges: list[tuple[Key, Key] | None] = [None] * len(parts)
        self._text_ends = [0] * len(parts)
        self._totals = [0] * len(parts)

    def finish(self) -> None:
        """Check the table as a whole after all parts have been read.

        Raises
        ------
        TrainingError
            If the parts are not in order, the text does not end exactly once, or the counts are too
            large.
        """
        edges = [edge for edge in self._edges if edge is not None]
        for (_, last), (first, _) in pairwise(edges):
            self._refuse_disorder(last, first)
        if self._is_empty and any(self._totals):
            raise BadCountsError(
                f"{self._name}: the table has rows, but its metadata state that the text has no "
                "sentence. Count again."
            )
        if sum(self._text_ends) != 1 and not self._is_empty:
            raise BadCountsError(
                f"{self._name}: the text ends {sum(self._text_ends)} times (place {AT_TEXT_END}), "
                "but it must end exactly once. Count again."
            )
        if sum(self._totals) > LARGEST_COUNT:
            raise TooLargeError(
                f"{self._name}: the sum of its counts is larger than 2**62. Count again."
            )

    def _checked(self, number: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Check and yield the rows of a part."""
        for batch in batches:
            columns = arrow.to_columns(batch)
            self._text_ends[number] += count_of_place(columns, AT_TEXT_END)
            self._totals[number] += total_count(columns)
            if batch.num_rows and self._is_sorted:
                self._check_order(number, batch, find_disorder(columns))
            yield batch

    def _check_order(self, number: int, batch: pa.RecordBatch, wrong: int) -> None:
        if wrong < batch.num_rows:
            self._refuse_disorder(_key(batch, wrong - 1), _key(batch, wrong))
        first, last = _key(batch, 0), _key(batch, batch.num_rows - 1)
        edge = self._edges[number]
        if edge is not None:
            self._refuse_disorder(edge[1], first)
        self._edges[number] = (first if edge is None else edge[0], last)

    def _refuse_disorder(self, before: Key, after: Key) -> None:
        if before == after:
            raise _repeated(after, self._name)
        if before > after:
            raise BadCountsError(
                f"{self._name}: its rows are not in order. Sort them by pretoken, place, next."
            )


class RepeatedRows:
    """Finds rows of an unordered table that have the same pretoken, place and next character.

    Parameters
    ----------
    name : str
        The name of the table in messages.
    """

    def __init__(self, name: str) -> None:
        self._hashes = RowHashes()
        self._name = name

    def add(self, batch: pa.RecordBatch) -> None:
        """Add rows whose values have been checked. Each row takes eight bytes of memory."""
        self._hashes.add(arrow.to_columns(batch))

    def refuse(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Raise if two rows have the same pretoken, place and next character.

        Parameters
        ----------
        batches : iterable of pyarrow.RecordBatch
            All rows again. They are only read if two rows have the same hash.

        Raises
        ------
        TrainingError
            If a row occurs twice.
        """
        if not self._hashes.find_repeated():
            return
        known: set[Key] = set()
        for batch in batches:
            for row in self._hashes.repeated(arrow.to_columns(batch)):
                key = _key(batch, row)
                if key in known:
                    raise _repeated(key, self._name)
                known.add(key)


def _key(batch: pa.RecordBatch, row: int) -> Key:
    pretoken, place, following = (batch.column(name)[row].as_py() for name in arrow.KEYS)
    return pretoken.encode(), place, following


def _repeated(key: Key, name: str) -> TrainingError:
    pretoken, place, following = key
    row = {"pretoken": pretoken.decode(), "place": place, "next": following}
    return BadCountsError(
        f"{name}: the row {row} occurs twice. Add up the counts of equal rows: GROUP BY pretoken, "
        "place, next."
    )
