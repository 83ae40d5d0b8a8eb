"""Merges tables of counts in bounded memory, optionally with weights and without rare pretokens.

Merging the tables of several texts gives the table of the concatenated texts. The end of each text
except the last becomes the end of a sentence, and the first character of the next text follows it.
A weight repeats a text: each copy except the last is followed by the first character of the same
text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from spmcompat.counting.rows import AT_END, AT_TEXT_END, LARGEST_COUNT, total_count
from spmcompat.errors import BadValueError, CountsMismatchError, TooLargeError
from spmcompat.stored_counts import arrow
from spmcompat.stored_counts.origin import Origin, differing_names

if TYPE_CHECKING:
    import pyarrow as pa

# The number of rows to merge at a time, from all tables together.
_ROWS_AT_A_TIME = 1 << 20
_LEAST_ROWS = 1 << 12

# Fields of `Origin` that a weight does not change.
_SUMS = ("too_long", "reserved", "bytes_read", "nulls", "broken")

# Options that training takes from the counts. Tables cannot be merged if these options differ.
_EQUAL_OPTIONS = ("compat", "max_sentence_length", "input_format")


class MergeableTable(Protocol):
    """A table of counts whose rows can be read in order."""

    origin: Origin

    @property
    def name(self) -> str:
        """The name of the table in messages."""

    def in_order(self, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, in batches."""


def tempered(sizes: Sequence[int], alpha: float) -> list[Fraction]:
    """Return weights that make the share of each text proportional to p^alpha.

    p is the size of the text, divided by the size of all texts. The weights do not change the total
    size. They are rounded to six decimals. Source: mT5 (Xue et al. 2021), section 3.2.
    """
    total = max(sum(sizes), 1)
    powers = [(size / total) ** alpha if size else 0.0 for size in sizes]
    new_shares = [power / max(sum(powers), 1.0) for power in powers]
    return [
        Fraction(f"{share * total / size:.6f}") if size else Fraction(1)
        for share, size in zip(new_shares, sizes, strict=True)
    ]


def _merged_origin(tables: Sequence[MergeableTable], weights: Sequence[Fraction]) -> Origin:
    origins = [table.origin for table in tables]
    weighted = [*zip(origins, weights, strict=True)]
    changes = [change for origin in origins for change in origin.changes]
    if any(weight != 1 for weight in weights):
        listed = ", ".join(str(float(weight)) for weight in weights)
        changes.append(f"merged with the weights {listed}")
    sums: dict[str, Any] = {n: _total(getattr(one, n) for one in origins) for n in _SUMS}
    with_text = [origin for origin in origins if origin.sentences]
    # The row that ends the text is always kept, so at least one sentence is left.
    least = int(bool(with_text))
    return origins[0]._replace(
        first_character=(with_text or origins)[0].first_character,
        options=_merged_options(origins),
        sentences=max(_total(times(one.sentences, weight) for one, weight in weighted), least),
        lines=max(_total(times(one.lines, weight) for one, weight in weighted), least),
        **sums,
        huge_characters=min(
            sum(origin.huge_characters * float(weight) for origin, weight in weighted), 1e300
        ),
        changes=tuple(changes),
    )


def _total(numbers: Iterable[int]) -> int:
    """Return the sum of numbers, limited to the largest number that metadata may contain."""
    return min(sum(numbers), LARGEST_COUNT)


def _check_equal_rules(first: MergeableTable, second: MergeableTable) -> None:
    """Raise if two tables were made with different rules."""
    if names := differing_names(_shared_rules(first.origin), _shared_rules(second.origin)):
        raise CountsMismatchError(
            f"{first.name} and {second.name} were counted with different rules "
            f"({', '.join(names)}) and cannot be merged. Count one of them again."
        )


def _shared_rules(origin: Origin) -> dict[str, object]:
    """Return the fields in which tables must agree to be merged."""
    return {
        **origin.rules,
        "normalization": origin.charsmap,
        "symbols": origin.symbols,
        "delimiter": origin.delimiter,
        **{name: origin.options.get(name) for name in _EQUAL_OPTIONS},
    }


def _merged_options(origins: Sequence[Origin]) -> dict[str, str]:
    """Return the options of the first table, with the files of all tables."""
    options = dict(origins[0].options)
    inputs = [origin.options["input"] for origin in origins if "input" in origin.options]
    if inputs:
        options["input"] = ",".join(inputs)
    return options


class Merging:
    """Merges tables in batches. Iterating over it yields the rows in order.

    Parameters
    ----------
    tables : sequence of MergeableTable
        The tables, in the order of their texts.
    weights : sequence of Fraction, optional
        How often to repeat each text; by default once. A count times its weight is rounded to the
        nearest whole number, and halves are rounded up. Rows that become 0 are dropped, except the
        row that ends the merged text.
    min_count : int
        Pretokens that occur less often than this in the merged text are dropped, except the
        pretoken that ends the text.

    Raises
    ------
    BadValueError
        If the tables were made with different rules.
    """

    def __init__(
        self,
        tables: Sequence[MergeableTable],
        weights: Sequence[Fraction] | None = None,
        min_count: int = 1,
    ) -> None:
        arrow.require_pyarrow()
        self._tables = tables
        self._weights = [*weights] if weights else [Fraction(1)] * len(tables)
        self._min_count = min_count
        self._kept = 0
        self._dropped = 0
        for table in tables[1:]:
            _check_equal_rules(tables[0], table)

    def origin(self) -> Origin:
        """Return the origin of the merged table, once all rows have been merged."""
        origin = _merged_origin(self._tables, self._weights)
        if self._min_count == 1:
            return origin
        share = self._dropped / max(self._kept + self._dropped, 1)
        change = (
            f"dropped pretokens with fewer than {self._min_count} occurrences, {share:.4%} of the "
            "text"
        )
        return origin._replace(changes=(*origin.changes, change))

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows.

        Raises
        ------
        TrainingError
            If a table is broken, or the sums are too large.
        """
        rows = max(_ROWS_AT_A_TIME // len(self._tables), _LEAST_ROWS)
        # Leave out empty texts, so that each text is followed by the next text that is not empty.
        weighted = [
            (table, weight)
            for table, weight in zip(self._tables, self._weights, strict=True)
            if not _is_empty(table)
        ]
        firsts = [table.origin.first_character for table, _ in weighted]
        nexts = [*firsts, None][1:]
        cursors = [
            Cursor(_repeated(table.in_order(rows), weight, first, following))
            for (table, weight), first, following in zip(weighted, firsts, nexts, strict=True)
        ]
        for merged in merge_rows(cursors):
            yield self._without_rare(merged)

    def _without_rare(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Drop rare pretokens. The batch must contain all rows of its pretokens."""
        import pyarrow.compute as pc

        if self._min_count == 1:
            return batch
        sums = arrow.sum_of_each(batch, ["pretoken"])
        stays = pc.or_(
            pc.greater_equal(sums, self._min_count),
            pc.equal(batch.column("place"), AT_TEXT_END),
        )
        kept = batch.filter(stays)
        kept_count = pc.sum(kept.column("count")).as_py() or 0
        self._kept += kept_count
        self._dropped += (pc.sum(batch.column("count")).as_py() or 0) - kept_count
        return kept


def _is_empty(table: MergeableTable) -> bool:
    """Return whether a table has no sentences; if so, check that it also has no rows."""
    if table.origin.sentences:
        return False
    for _ in table.in_order(_LEAST_ROWS):
        pass
    return True


def merge_rows(cursors: Sequence[Cursor]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of all cursors in order, adding up the counts of equal rows.

    Raises
    ------
    TrainingError
        If the sum of all counts is too large.
    """
    total = 0
    while cursors := [cursor for cursor in cursors if cursor.rows is not None]:
        bound = min(cursor.last for cursor in cursors)
        batches = [cursor.take_to(bound) for cursor in cursors]
        total += sum(total_count(arrow.to_columns(batch)) for batch in batches)
        if total > LARGEST_COUNT:
            raise TooLargeError(
                "The sum of all counts is too large for 64 bits. Merge fewer files, or lower the "
                "weights."
            )
        yield _summed(batches)


class Cursor:
    """The rows of one table that have not been merged yet.

    Parameters
    ----------
    batches : iterator of pyarrow.RecordBatch
        The rows, sorted by pretoken.

    Attributes
    ----------
    rows : pyarrow.RecordBatch or None
        The next rows, or None at the end.
    last : bytes
        The last pretoken of these rows.
    """

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches
        self.rows: pa.RecordBatch | None = None
        self.last = b""
        self._load()

    def take_to(self, bound: bytes) -> pa.RecordBatch:
        """Return all rows up to and including the pretoken `bound`, and move past them.

        `bound` must not come after the attribute `last` of any cursor.
        """
        import pyarrow as pa

        taken = []
        while self.rows is not None:
            pretokens = self.rows.column("pretoken")
            end = bisect_right(
                range(self.rows.num_rows), bound, key=lambda i: pretokens[i].as_py().encode()
            )
            taken.append(self.rows.slice(0, end))
            if end < self.rows.num_rows:
                self.rows = self.rows.slice(end)
                break
            self._load()  # the next batch may contain more rows of this pretoken
        return pa.concat_batches([batch for batch in taken if batch.num_rows] or taken[:1])

    def _load(self) -> None:
        """Load the next rows of the table."""
        self.rows = next((batch for batch in self._batches if batch.num_rows), None)
        if self.rows is not None:
            self.last = self.rows.column("pretoken")[self.rows.num_rows - 1].as_py().encode()


def _repeated(
    batches: Iterable[pa.RecordBatch], weight: Fraction, first: int, next_first: int | None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a text that is repeated and, optionally, followed by another text.

    The resulting rows are sorted by pretoken, but not by place and next character.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        The rows of the text, in order.
    weight : Fraction
        How often to repeat the text.
    first : int
        The first character of the text, which follows each copy except the last.
    next_first : int, optional
        The first character of the text that follows. If it is None, no text follows.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    copies = max(times(1, weight), 1 if next_first is None else 0)
    for batch in batches:
        end = pc.index(batch.column("place"), AT_TEXT_END).as_py()
        if end < 0 or (weight == 1 and next_first is None):
            yield _weighed(batch, weight)
            continue
        pretoken = batch.column("pretoken")[end].as_py()
        last = (AT_TEXT_END, 0, 1) if next_first is None else (AT_END, next_first, 1)
        ends = [last, (AT_END, first, copies - 1)][:copies]
        rows = [
            {"pretoken": pretoken, "place": place, "next": following, "count": count}
            for place, following, count in ends
        ]
        yield pa.concat_batches(
            [
                _weighed(batch.slice(0, end), weight),
                pa.RecordBatch.from_pylist(rows, schema=arrow.schema()),
                _weighed(batch.slice(end + 1), weight),
            ]
        )


def _weighed(batch: pa.RecordBatch, weight: Fraction) -> pa.RecordBatch:
    """Multiply the counts by the weight, round them, and drop the rows that become 0."""
    import pyarrow as pa
    import pyarrow.compute as pc

    counts = batch.column("count")
    largest = pc.max(counts).as_py() or 0
    if weight == 1:
        return batch
    if largest * weight > LARGEST_COUNT:
        raise BadValueError(f"A count of {largest} times {float(weight)} is too large.")
    numerator, denominator = (2 * part for part in weight.as_integer_ratio())
    if largest * numerator + denominator < 2**63:
        half = pa.scalar(denominator // 2, pa.int64())
        product = pc.multiply(counts, pa.scalar(numerator, pa.int64()))
        weighed = pc.divide(pc.add(product, half), pa.scalar(denominator, pa.int64()))
    else:  # int64 would overflow, but Python integers do not
        weighed = pa.array([times(count, weight) for count in counts.to_pylist()], pa.int64())
    kept = pa.RecordBatch.from_arrays([*batch.columns[:-1], weighed], schema=arrow.schema())
    return kept.filter(pc.greater(weighed, 0))


def times(number: int, weight: Fraction) -> int:
    """Return a whole number times the weight; halves are rounded up."""
    numerator, denominator = weight.as_integer_ratio()
    return (2 * number * numerator + denominator) // (2 * denominator)


def _summed(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Add up the counts of equal rows, and put the rows in order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = pa.concat_batches(batches)
    order = pc.sort_indices(rows, sort_keys=[(key, "ascending") for key in arrow.KEYS])
    return arrow.add_up(rows.take(order), arrow.KEYS)
