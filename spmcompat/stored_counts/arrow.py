"""Rows of counts as Arrow data, and the checks of their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, reduce
from typing import TYPE_CHECKING

from spmcompat.counting.rows import (
    AT_TEXT_END,
    LARGEST_CHARACTER,
    LARGEST_COUNT,
    Columns,
    find_wrong_row,
)
from spmcompat.errors import BadCountsError, printable
from spmcompat.runtime.libraries import require

if TYPE_CHECKING:
    import pyarrow as pa

KEYS = ("pretoken", "place", "next")
"""The key columns: no two rows of a table have the same values in all of them. A table that is in
order is sorted by these columns."""
# For each column: `_WIDTHS` is the size of a value in bytes, and `_VALUES_MORE` is the number of
# values minus the number of rows. The column of pretokens has one more value than rows: its values
# are the offsets at which the pretokens begin, and the offset at which the last one ends.
_WIDTHS = (4, 1, 4, 8)
_VALUES_MORE = (1, 0, 0, 0)
_LIMITS = {
    "place": (0, AT_TEXT_END),
    "next": (0, LARGEST_CHARACTER),
    "count": (1, LARGEST_COUNT),
}
_FAULTS = {
    "utf8": "a pretoken is not valid UTF-8",
    "empty": "a pretoken is empty",
    "text end": "a row that ends the text has a following character",
}


def require_pyarrow() -> None:
    """Import pyarrow.

    Raises
    ------
    MissingLibraryError
        If it is not installed. The message says what to install.
    OutOfMemoryError
        If there is not enough memory for the import.
    """
    require("pyarrow", "Reading or writing counts", "counts")
    import pyarrow.parquet  # noqa: F401


@contextmanager
def freeing_at_once() -> Iterator[None]:
    """Make Arrow return freed memory to the system immediately; by default, it keeps some."""
    import pyarrow as pa

    before = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(before)


@cache
def schema() -> pa.Schema:
    """Return the columns of a table of counts."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("pretoken", pa.string(), nullable=False),
            pa.field("place", pa.int8(), nullable=False),
            pa.field("next", pa.int32(), nullable=False),
            pa.field("count", pa.int64(), nullable=False),
        ]
    )


def to_batch(columns: Columns) -> pa.RecordBatch:
    """Return rows as Arrow data that shares the buffers of the columns."""
    import pyarrow as pa

    names = schema().names
    size = columns.size
    text = [None, pa.py_buffer(columns.ends), pa.py_buffer(columns.text)]
    arrays = [pa.Array.from_buffers(pa.string(), size, text)]
    for name in names[1:]:
        buffers = [None, pa.py_buffer(getattr(columns, name))]
        arrays.append(pa.Array.from_buffers(schema().field(name).type, size, buffers))
    return pa.RecordBatch.from_arrays(arrays, schema=schema())


def with_columns(batch: pa.RecordBatch, source: str) -> pa.RecordBatch:
    """Return only the columns of a table of counts, cast to their types.

    Raises
    ------
    TrainingError
        If a column is missing, occurs twice, or has another type.
    """
    import pyarrow as pa

    if batch.schema.equals(schema()):
        return batch
    names = batch.schema.names
    wrong = [name for name in schema().names if names.count(name) != 1]
    if wrong:
        raise BadCountsError(
            f"{source} does not have exactly one column {wrong[0]}, so it is not a table of "
            "counts. Give a file that spmcompat count wrote."
        )
    try:
        arrays = [batch.column(field.name).cast(field.type) for field in schema()]
    except MemoryError:
        raise
    except pa.ArrowException as error:
        reason = printable(str(error).split("\n", maxsplit=1)[0])
        raise BadCountsError(f"{source}: a column has the wrong type: {reason}.") from None
    return pa.RecordBatch.from_arrays(arrays, schema=schema())


def refuse_nulls(batch: pa.RecordBatch, source: str) -> None:
    """Raise if a value is missing.

    Raises
    ------
    TrainingError
        If a column contains a null. The message names the column.
    """
    for name in schema().names:
        if batch.column(name).null_count:
            raise BadCountsError(f"{source}: the column {name} contains a null. Count again.")


def check(batch: pa.RecordBatch, source: str) -> None:
    """Raise if a row has a value that is impossible in a row of counts.

    Raises
    ------
    TrainingError
        If there is such a value. The message names the first one.
    """
    refuse_nulls(batch, source)
    found = find_wrong_row(to_columns(batch))
    if found is None:
        return
    row, fault = found
    if fault in _FAULTS:
        raise BadCountsError(f"{source}: {_FAULTS[fault]}. Count again.")
    least, most = _LIMITS[fault]
    raise BadCountsError(
        f"{source}: the column {fault} has the value {batch.column(fault)[row].as_py()}; values "
        f"from {least} to {most} are possible. Count again."
    )


def add_up(rows: pa.RecordBatch, keys: Sequence[str]) -> pa.RecordBatch:
    """Return the sum of the counts for each combination of keys.

    pyarrow's ``group_by`` is not used, because it may hang or end the process if memory runs out.

    Parameters
    ----------
    rows : pyarrow.RecordBatch
        Rows, in which rows with equal keys are adjacent.
    keys : sequence of str
        The columns to compare.

    Returns
    -------
    pyarrow.RecordBatch
        The first row of each combination of keys, with the sum as its count.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if rows.num_rows == 0:
        return rows
    begins = _begins(rows, keys)
    ends = pa.concat_arrays([begins[1:], pa.array([True])])
    sums = pc.cumulative_sum(rows.column("count")).filter(ends)
    before = pa.concat_arrays([pa.array([0], pa.int64()), sums[:-1]])
    firsts = rows.filter(begins)
    arrays = [*firsts.columns[:-1], pc.subtract(sums, before)]
    return pa.RecordBatch.from_arrays(arrays, schema=rows.schema)


def sum_of_each(rows: pa.RecordBatch, keys: Sequence[str]) -> pa.Int64Array:
    """Return, for each row, the sum that `add_up` returns for its keys."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if rows.num_rows == 0:
        return rows.column("count")
    groups = pc.cumulative_sum(_begins(rows, keys).cast(pa.int64()))
    before_first = pa.array([0], pa.int64())
    sums = pa.concat_arrays([before_first, add_up(rows, keys).column("count")])
    return sums.take(groups)


def _begins(rows: pa.RecordBatch, keys: Sequence[str]) -> pa.BooleanArray:
    """Return, for each row, whether its keys differ from those of the previous row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    changes = [pc.not_equal(rows.column(key)[1:], rows.column(key)[:-1]) for key in keys]
    return pa.concat_arrays([pa.array([True]), reduce(pc.or_, changes)])


def to_columns(batch: pa.RecordBatch) -> Columns:
    """Return the buffers of a batch without copying them. The batch must not contain nulls."""
    buffers = []
    for column, width, more in zip(batch.columns, _WIDTHS, _VALUES_MORE, strict=True):
        values = column.buffers()[1]
        if values is not None:
            values = values.slice(column.offset * width, (len(column) + more) * width)
        buffers.append(values)
    ends, place, following, count = buffers
    return Columns(batch.num_rows, ends, batch.columns[0].buffers()[2], place, following, count)


def first_match(batch: pa.RecordBatch, pattern: str) -> str | None:
    """Return the first pretoken that contains a match of a regular expression, if there is one."""
    import pyarrow.compute as pc

    pretokens = batch.column("pretoken")
    found = pc.index(pc.match_substring_regex(pretokens, pattern), True).as_py()
    return None if found < 0 else pretokens[found].as_py()
