"""Rows of counts as Arrow data, and what must hold for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from queue import SimpleQueue
from threading import TIMEOUT_MAX
from typing import TYPE_CHECKING

from spmcompat.counting.rows import AT_TEXT_END, Columns
from spmcompat.errors import TrainingError
from spmcompat.runtime.cancel import CancelFlag
from spmcompat.runtime.job_thread import JobThread
from spmcompat.runtime.libraries import require

if TYPE_CHECKING:
    import pyarrow as pa

KEYS = ("pretoken", "place", "next")
"""The columns in which no two rows of a table are equal. Rows in order are sorted by them."""
_LARGEST_CHARACTER = 0x10FFFF
# Counts above this cannot be added up in 64 bits, even a few of them.
LARGEST_COUNT = 2**62


def require_pyarrow() -> None:
    """Raise if pyarrow is not installed.

    Raises
    ------
    MissingLibraryError
        It says what to install.
    """
    require("pyarrow", "Storing counts", "counts")


@contextmanager
def importing_meanwhile() -> Iterator[None]:
    """Import pyarrow in a thread of its own while the ``with`` statement does something else.

    The import takes a third of a second. If it fails, the next import says why.
    """

    def load() -> None:
        with suppress(Exception):
            import pyarrow.parquet  # noqa: F401, PLC0415

    thread = JobThread(0, SimpleQueue(), CancelFlag())
    thread.do(load)
    thread.dismiss()
    try:
        yield
    finally:
        thread.await_end(TIMEOUT_MAX)


@contextmanager
def freeing_at_once() -> Iterator[None]:
    """Let Arrow give memory back as soon as it is free. Its own allocator keeps some."""
    import pyarrow as pa  # noqa: PLC0415

    before = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(before)


@cache
def schema() -> pa.Schema:
    """Return the columns of a table of counts."""
    import pyarrow as pa  # noqa: PLC0415

    return pa.schema(
        [
            pa.field("pretoken", pa.string(), nullable=False),
            pa.field("place", pa.int8(), nullable=False),
            pa.field("next", pa.int32(), nullable=False),
            pa.field("count", pa.int64(), nullable=False),
        ]
    )


def to_batch(columns: Columns) -> pa.RecordBatch:
    """Return rows as Arrow data, which keeps the buffers of the columns."""
    import pyarrow as pa  # noqa: PLC0415

    names = schema().names
    size = columns.size
    text = [None, pa.py_buffer(columns.ends), pa.py_buffer(columns.text)]
    arrays = [pa.Array.from_buffers(pa.string(), size, text)]
    for name in names[1:]:
        buffers = [None, pa.py_buffer(getattr(columns, name))]
        arrays.append(pa.Array.from_buffers(schema().field(name).type, size, buffers))
    return pa.RecordBatch.from_arrays(arrays, schema=schema())


def with_columns(batch: pa.RecordBatch, source: str) -> pa.RecordBatch:
    """Return the columns of a table of counts, with their types.

    Raises
    ------
    TrainingError
        If a column is missing, or has another type.
    """
    import pyarrow as pa  # noqa: PLC0415

    missing = [name for name in schema().names if name not in batch.schema.names]
    if missing:
        raise TrainingError(
            f"{source} has no column {', '.join(missing)}: it is no table of counts. Give a file "
            "that spmcompat count wrote."
        )
    try:
        arrays = [batch.column(field.name).cast(field.type) for field in schema()]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        reason = str(error).split("\n", maxsplit=1)[0]
        raise TrainingError(f"{source}: a column has another type than counts: {reason}.") from None
    return pa.RecordBatch.from_arrays(arrays, schema=schema())


def check(batch: pa.RecordBatch, source: str) -> None:
    """Raise if a value cannot stand in a table of counts.

    Raises
    ------
    TrainingError
        It names the first such value.
    """
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    try:
        batch.validate(full=True)
    except pa.ArrowInvalid:
        raise TrainingError(f"{source}: a pretoken is not valid UTF-8. Count again.") from None
    for name in schema().names:
        if batch.column(name).null_count:
            raise TrainingError(f"{source}: the column {name} has an empty value. Count again.")
    limits = {
        "place": (0, AT_TEXT_END),
        "next": (0, _LARGEST_CHARACTER),
        "count": (1, LARGEST_COUNT),
    }
    for name, (least, most) in limits.items():
        bounds = pc.min_max(batch.column(name)).as_py()
        for value in (bounds["min"], bounds["max"]):
            if value is not None and not least <= value <= most:
                raise TrainingError(
                    f"{source}: the column {name} holds {value}; values from {least} to {most} "
                    "are possible. Count again."
                )
    shortest = pc.min(pc.binary_length(batch.column("pretoken"))).as_py()
    if shortest == 0:
        raise TrainingError(f"{source}: a pretoken is empty. Count again.")


def to_columns(batch: pa.RecordBatch) -> Columns:
    """Return the buffers of rows that are checked."""
    import pyarrow as pa  # noqa: PLC0415

    if any(column.offset for column in batch.columns):  # a slice: its buffers hold other rows too
        batch = pa.RecordBatch.from_arrays(
            [pa.concat_arrays([column]) for column in batch.columns], schema=batch.schema
        )
    buffers = [batch.column(name).buffers() for name in schema().names]
    (_, ends, text), (_, place), (_, following), (_, count) = buffers
    return Columns(batch.num_rows, ends, text, place, following, count)


def count_of_place(batch: pa.RecordBatch, place: int) -> int:
    """Return the sum of the counts of all rows with this place."""
    import pyarrow.compute as pc  # noqa: PLC0415

    at_place = pc.equal(batch.column("place"), place)
    return pc.sum(batch.column("count").filter(at_place)).as_py() or 0


def first_match(batch: pa.RecordBatch, pattern: str) -> str | None:
    """Return the first pretoken in which a regular expression matches, if there is one."""
    import pyarrow.compute as pc  # noqa: PLC0415

    pretokens = batch.column("pretoken")
    found = pc.index(pc.match_substring_regex(pretokens, pattern), True).as_py()
    return None if found < 0 else pretokens[found].as_py()
