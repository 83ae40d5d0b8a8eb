"""Tables of counts become one: in bounded memory, with weights, without rare pretokens.

Merging the tables of some texts gives the table of the texts one behind the other: the end of each
text but the last becomes the end of a sentence, and the first character of the next text follows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from spmcompat.counting.rows import AT_END, AT_TEXT_END, LARGEST_COUNT
from spmcompat.errors import BadValueError, TrainingError
from spmcompat.stored_counts import arrow
from spmcompat.stored_counts.origin import Origin, differences

if TYPE_CHECKING:
    import pyarrow as pa

# Rows that are merged at a time, from all tables together.
_ROWS_AT_A_TIME = 1 << 20
_LEAST_ROWS = 1 << 12

# Options that a model stores and that tables must share.
_EQUAL_OPTIONS = ("compat", "max_sentence_length", "input_format")


class Table(Protocol):
    """A table of counts whose rows can be read in order."""

    origin: Origin

    @property
    def name(self) -> str:
        """How messages call the table."""

    def in_order(self, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, some at a time."""


def temperature_weights(tables: Sequence[Table], alpha: float) -> list[Fraction]:
    """Return weights that change the share p of each text to one proportional to p^alpha.

    The shares are those of the sentences. The weights keep the number of all sentences. They are
    rounded to six decimals. Source: mT5 (Xue et al. 2021), section 3.2.
    """
    sizes = [table.origin.sentences for table in tables]
    total = sum(sizes)
    powers = [(size / total) ** alpha for size in sizes]
    wanted = [power / sum(powers) for power in powers]
    return [
        Fraction(f"{share * total / size:.6f}") if size else Fraction(1)
        for share, size in zip(wanted, sizes, strict=True)
    ]


def _merged_origin(tables: Sequence[Table], weights: Sequence[Fraction]) -> Origin:
    origins = [table.origin for table in tables]
    sentences = sum(
        _times(origin.sentences, weight) for origin, weight in zip(origins, weights, strict=True)
    )
    changes = [change for origin in origins for change in origin.changes]
    if any(weight != 1 for weight in weights):
        listed = ", ".join(str(float(weight)) for weight in weights)
        changes.append(f"merged with the weights {listed}")
    return origins[0]._replace(
        options=_merged_options(origins),
        sentences=sentences,
        lines=sum(origin.lines for origin in origins),
        too_long=sum(origin.too_long for origin in origins),
        reserved=sum(origin.reserved for origin in origins),
        bytes_read=sum(origin.bytes_read for origin in origins),
        nulls=sum(origin.nulls for origin in origins),
        broken=sum(origin.broken for origin in origins),
        huge_characters=sum(
            origin.huge_characters * float(weight)
            for origin, weight in zip(origins, weights, strict=True)
        ),
        changes=tuple(changes),
    )


def _check_equal_rules(first: Table, second: Table) -> None:
    """Raise if two tables were made by different rules."""
    if names := differences(_shared_rules(first.origin), _shared_rules(second.origin)):
        raise BadValueError(
            f"{first.name} and {second.name} were counted by different rules ({', '.join(names)}) "
            "and cannot be merged. Count one of them again."
        )


def _shared_rules(origin: Origin) -> dict[str, object]:
    """Return all that tables must share to be merged."""
    return {
        **origin.rules,
        "normalization": origin.charsmap,
        "symbols": origin.symbols,
        "delimiter": origin.delimiter,
        **{name: origin.options.get(name) for name in _EQUAL_OPTIONS},
    }


def _merged_options(origins: Sequence[Origin]) -> dict[str, str]:
    """Return the options of the first table, with the files of all."""
    options = dict(origins[0].options)
    inputs = [origin.options["input"] for origin in origins if "input" in origin.options]
    if inputs:
        options["input"] = ",".join(inputs)
    return options


class Merging:
    """Merges tables, some rows at a time; iterate over it for the rows in order.

    Parameters
    ----------
    tables : sequence of Table
        The tables, in the order of their texts.
    weights : sequence of Fraction, optional
        How often each text counts; by default once. A count times its weight is rounded to the
        nearest whole number, and up if two are equally near. Rows that become 0 are dropped. The
        row that ends the text keeps its count of 1.
    min_count : int
        Pretokens that occur less often than this in the merged text are dropped, except the one
        that ends the text.

    Raises
    ------
    BadValueError
        If the tables were made by different rules.
    """

    def __init__(
        self,
        tables: Sequence[Table],
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

    @property
    def dropped_share(self) -> float:
        """The share of all pretokens merged so far that was dropped as too rare."""
        return self._dropped / max(self._kept + self._dropped, 1)

    def origin(self) -> Origin:
        """Return what the merged table is made from, once all rows are merged."""
        origin = _merged_origin(self._tables, self._weights)
        if self._min_count == 1:
            return origin
        change = (
            f"dropped pretokens with fewer than {self._min_count} occurrences, "
            f"{self.dropped_share:.4%} of the text"
        )
        return origin._replace(changes=(*origin.changes, change))

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows.

        Raises
        ------
        TrainingError
            If a table is broken or not in order, or the sums are too large.
        """
        rows = max(_ROWS_AT_A_TIME // len(self._tables), _LEAST_ROWS)
        nexts = [*(table.origin.first_character for table in self._tables[1:]), None]
        cursors = [
            Cursor(table.in_order(rows), table.name, weight, following)
            for table, weight, following in zip(self._tables, self._weights, nexts, strict=True)
        ]
        for merged in merge_rows(cursors):
            yield self._without_rare(merged)

    def _without_rare(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Drop the pretokens that are too rare; all rows of each are in the batch."""
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.compute as pc  # noqa: PLC0415

        if self._min_count == 1:
            return batch
        totals = pa.table(batch).group_by("pretoken").aggregate([("count", "sum")])
        common = totals.filter(pc.greater_equal(totals["count_sum"], self._min_count))
        stays = pc.or_(
            pc.is_in(batch.column("pretoken"), value_set=common["pretoken"].combine_chunks()),
            pc.equal(batch.column("place"), AT_TEXT_END),
        )
        kept = batch.filter(stays)
        kept_count = pc.sum(kept.column("count")).as_py() or 0
        self._kept += kept_count
        self._dropped += (pc.sum(batch.column("count")).as_py() or 0) - kept_count
        return kept


def merge_rows(cursors: Sequence[Cursor]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of all cursors in order; the counts of equal rows are added up.

    Raises
    ------
    TrainingError
        If the rows of a cursor are not in order, or a sum is too large.
    """
    while cursors := [cursor for cursor in cursors if cursor.rows is not None]:
        bound = min(cursor.last for cursor in cursors)
        yield _summed([cursor.take_to(bound) for cursor in cursors])


class Cursor:
    """The rows of one table that are not merged yet.

    Parameters
    ----------
    batches : iterator of pyarrow.RecordBatch
        The rows, in order.
    name : str
        How messages call the table.
    weight : Fraction
        What the counts are multiplied by.
    next_first : int, optional
        The character that the text begins with which follows; without it, the text ends here.

    Attributes
    ----------
    rows : pyarrow.RecordBatch or None
        The next rows; None after the last one.
    last : bytes
        The last pretoken of these rows.
    """

    def __init__(
        self,
        batches: Iterator[pa.RecordBatch],
        name: str,
        weight: Fraction = Fraction(1),
        next_first: int | None = None,
    ) -> None:
        self._batches = batches
        self._weight = weight
        self._next_first = next_first
        self._name = name
        self.rows: pa.RecordBatch | None = None
        self.last = b""
        self._load()

    def take_to(self, bound: bytes) -> pa.RecordBatch:
        """Return all rows whose pretoken is not above the bound, and go to those behind them.

        The bound is not above the last pretoken of any cursor.
        """
        import pyarrow as pa  # noqa: PLC0415

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
            self._load()  # The pretoken may go on there.
        return pa.concat_batches([batch for batch in taken if batch.num_rows] or taken[:1])

    def _load(self) -> None:
        """Take the next rows from the table.

        Raises
        ------
        TrainingError
            If they are not in order.
        """
        batch = next((b for b in self._batches if b.num_rows), None)
        if batch is None:
            self.rows = None
            return
        pretokens = batch.column("pretoken")
        if pretokens[0].as_py().encode() < self.last or not _is_sorted(pretokens):
            raise TrainingError(
                f"{self._name}: its rows are not in order. Sort them by pretoken, place, next."
            )
        self.last = pretokens[batch.num_rows - 1].as_py().encode()
        self.rows = _weighed(_joined(batch, self._next_first), self._weight)


def _is_sorted(pretokens: pa.StringArray) -> bool:
    import pyarrow.compute as pc  # noqa: PLC0415

    return bool(pc.all(pc.less_equal(pretokens[:-1], pretokens[1:]), min_count=0).as_py())


def _joined(batch: pa.RecordBatch, next_first: int | None) -> pa.RecordBatch:
    """Let another text follow, which begins with a character."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    if next_first is None:
        return batch
    ends = pc.equal(batch.column("place"), AT_TEXT_END)
    columns = {
        "place": pc.if_else(ends, pa.scalar(AT_END, pa.int8()), batch.column("place")),
        "next": pc.if_else(ends, pa.scalar(next_first, pa.int32()), batch.column("next")),
    }
    arrays = [columns.get(name, batch.column(name)) for name in arrow.schema().names]
    return pa.RecordBatch.from_arrays(arrays, schema=arrow.schema())


def _weighed(batch: pa.RecordBatch, weight: Fraction) -> pa.RecordBatch:
    """Multiply the counts by the weight, and round them."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    if weight == 1:
        return batch
    counts = batch.column("count").to_numpy()
    largest = int(counts.max()) * weight
    if largest > LARGEST_COUNT:
        raise BadValueError(f"A count of {int(counts.max())} times {float(weight)} is too large.")
    # In 64 bits if that suffices, else in Python's numbers: always exactly.
    fits = 2 * (largest * weight.denominator + weight.denominator) < 2**63
    exact = counts if fits else counts.astype(object)
    weighed = pa.array(_times(exact, weight), pa.int64())
    at_end = pc.equal(batch.column("place"), AT_TEXT_END)
    weighed = pc.if_else(at_end, batch.column("count"), weighed)
    arrays = [*batch.columns[:-1], weighed]
    kept = pa.RecordBatch.from_arrays(arrays, schema=arrow.schema())
    return kept.filter(pc.greater(weighed, 0))


def _times(number: Any, weight: Fraction) -> Any:
    """Return a whole number, or an array of them, times the weight; halves are rounded up."""
    numerator, denominator = weight.as_integer_ratio()
    return (2 * number * numerator + denominator) // (2 * denominator)


def _summed(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Add up the counts of equal rows, and put the rows in order."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    table = pa.Table.from_batches(batches, schema=arrow.schema())
    largest = pc.max(table["count"]).as_py() or 0
    if largest * len(batches) > LARGEST_COUNT:
        raise TrainingError(
            f"The sum of {len(batches)} counts of up to {largest} may be too large for 64 bits. "
            "Lower the weights."
        )
    summed = table.group_by(list(arrow.KEYS)).aggregate([("count", "sum")])
    summed = summed.rename_columns([*arrow.KEYS, "count"]).sort_by(
        [(k, "ascending") for k in arrow.KEYS]
    )
    return summed.cast(arrow.schema()).combine_chunks().to_batches()[0]
