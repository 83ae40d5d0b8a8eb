"""Reads Arrow data from the objects of any library into read buffers.

Most objects have a method of the Arrow PyCapsule interface. Data sets of Hugging Face and pyarrow,
lazy frames of polars, and files of pyarrow do not have one, but their batches do. Such objects are
recognized by the names of their classes, without importing their libraries.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing
from functools import partial
from typing import Any, Protocol, TypeAlias, TypeGuard

from spmcompat.errors import BadValueError, WrongTypeError, naming_iterator_errors
from spmcompat.runtime.libraries import is_installed
from spmcompat.text.arrow_columns import COLUMN, DEFAULT_COLUMN
from spmcompat.text.columns import ArrowStrings
from spmcompat.text.lines import ReadBuffer

# The number of rows to request in a batch. It is small, because a row may be a whole document.
_BATCH_ROWS = 1000
_BATCH_ROWS_OF_QUERY = 10_000

_SPLITS = ("DatasetDict", "IterableDatasetDict")


class ArrowStreamExportable(Protocol):
    """An object with several batches of data: a table, a column in chunks, or a reader."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return a capsule with an ``ArrowArrayStream``."""


class ArrowArrayExportable(Protocol):
    """An object with a single batch of data: a record batch, or a column."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """Return capsules with an ``ArrowSchema`` and an ``ArrowArray``."""


class LazyFrame(Protocol):
    """A lazy frame of polars."""

    def collect_schema(self) -> Any:
        """Return the names and types of the columns."""


class Dataset(Protocol):
    """A ``Dataset`` or an ``IterableDataset`` of Hugging Face."""

    def with_format(self, type: str | None = None) -> Any:
        """Return the data set with its rows in another format."""


ArrowExportable: TypeAlias = "ArrowStreamExportable | ArrowArrayExportable"
Strings: TypeAlias = "Iterable[str | bytes | list[str]]"
Sentences: TypeAlias = "Strings | Iterable[ArrowExportable] | ArrowExportable | LazyFrame | Dataset"
"""The types that `sentence_iterator` accepts."""


def is_arrow(data: object) -> TypeGuard[ArrowExportable]:
    """Return whether an object has a method of the Arrow PyCapsule interface."""
    kind = type(data)
    return hasattr(kind, "__arrow_c_stream__") or hasattr(kind, "__arrow_c_array__")


def is_arrow_data(data: object) -> bool:
    """Return whether an object is Arrow data, or a data set or query with batches of Arrow data."""
    return (
        is_arrow(data)
        or any(_is_of(data, *name) for name in _BATCHES_OF)
        or any(_is_of(data, "datasets", name) for name in _SPLITS)
    )


def arrow_parts(data: object, column: str | None) -> Iterable[ArrowExportable] | None:
    """Return the Arrow objects that make up the data, or None if the data are not Arrow data.

    Parameters
    ----------
    data : object
        The sentences that the caller gave.
    column : str, optional
        The column to read. If the library supports this, the other columns are not even computed.

    Raises
    ------
    BadValueError
        If the data are several data sets, or cannot be read as Arrow data.
    TrainingError
        If the library raises an exception.
    """
    if any(_is_of(data, "datasets", name) for name in _SPLITS):
        raise _several_splits(data)
    for name, batches_of in _BATCHES_OF.items():
        if _is_of(data, *name):
            return naming_iterator_errors(partial(batches_of, data, column))
    if _is_of(data, "duckdb", "DuckDBPyRelation") and is_installed("pyarrow"):
        return naming_iterator_errors(lambda: _batches_of_relation(data, column))
    # Without pyarrow, a Series can only be read as an iterable of texts.
    if _is_of(data, "pandas", "Series") and not is_installed("pyarrow"):
        return None
    return [data] if is_arrow(data) else None


def _is_of(data: object, library: str, name: str) -> bool:
    """Return whether an object is an instance of a class, without importing its library."""
    return any(
        kind.__name__ == name and kind.__module__.partition(".")[0].lstrip("_") == library
        for kind in type(data).__mro__
    )


def _several_splits(splits: Any) -> BadValueError:
    names = [repr(name) for name in splits]
    return WrongTypeError(
        f"a {type(splits).__name__} contains several data sets: {', '.join(names)}. Choose one of "
        f"them, for example data[{names[0] if names else repr('train')}]."
    )


def column_name_of(table: ArrowExportable, column: str | None, option: str = COLUMN) -> str:
    """Return the name of the column that would be read from a table.

    Parameters
    ----------
    table : object with ``__arrow_c_stream__`` or ``__arrow_c_array__``
        A table, which may be empty.
    column, option
        As for `column_of_table`.

    Raises
    ------
    BadValueError
        If there is no such column, or it does not contain strings.
    """
    strings = ArrowStrings(table, column, option)
    assert strings.column_name is not None
    return strings.column_name


def empty_reader(schema: Any) -> ArrowExportable:
    """Return a reader with a schema of pyarrow and no batches.

    ``schema.empty_table()`` would import pandas, which takes time and memory.
    """
    import pyarrow as pa

    reader: ArrowExportable = pa.RecordBatchReader.from_batches(schema, [])
    return reader


def _batches_of_dataset(data: Any, column: str | None) -> Iterable[ArrowExportable]:
    """Return the batches of a data set: the rows that the data set selects, in their order."""
    if data.format["type"] == "custom":
        raise WrongTypeError(
            "the data set has a transform (set_transform or with_transform), which is not applied "
            "to its Arrow data. Apply the function with map, or give an iterator of texts."
        )
    name = column_name_of(empty_reader(data.features.arrow_schema), column)
    batches: Iterable[ArrowExportable] = (
        data.select_columns([name]).with_format("arrow").iter(_BATCH_ROWS)
    )
    return batches


def _batches_of_iterable_dataset(data: Any, column: str | None) -> Iterable[ArrowExportable]:
    """Return the batches of a data set that computes its rows while it is read."""
    if data.features is not None:
        batches: Iterable[ArrowExportable] = data.with_format("arrow").iter(_BATCH_ROWS)
        return batches
    # The rows are read as Python objects. In the Arrow format, the data set would guess the types
    # from each row separately, and fail at a null.
    return (_table_of(batch, column) for batch in data.with_format(None).iter(_BATCH_ROWS))


def _table_of(batch: dict[str, list[Any]], column: str | None) -> ArrowExportable:
    """Return a table of the column to read, or of all columns if that column does not exist."""
    import pyarrow as pa

    wanted = DEFAULT_COLUMN if column is None else column
    table: ArrowExportable = pa.table({wanted: batch[wanted]} if wanted in batch else batch)
    return table


def _batches_of_lazy_frame(data: Any, column: str | None) -> Iterable[ArrowExportable]:
    """Return the result of a query in batches. At most a few batches are computed ahead."""
    import polars

    name = column_name_of(polars.DataFrame(schema=data.collect_schema()), column)
    query = data.select(polars.selectors.by_name(name))
    if hasattr(query, "collect_batches"):
        batches: Iterable[ArrowExportable] = query.collect_batches(
            chunk_size=_BATCH_ROWS_OF_QUERY, maintain_order=True
        )
        return batches
    return [query.collect(engine="streaming")]


def _batches_of_relation(data: Any, column: str | None) -> Iterable[ArrowExportable]:
    """Return the result of a DuckDB relation as a reader of small batches.

    The method ``__arrow_c_stream__`` of the relation would return a million rows at a time. The
    reader needs pyarrow.
    """
    name = column_name_of(data.limit(0), column)
    query = data.project('"' + name.replace('"', '""') + '"')
    read = getattr(query, "to_arrow_reader", None) or query.fetch_arrow_reader
    return [read(_BATCH_ROWS_OF_QUERY)]


def _batches_of_pyarrow_dataset(data: Any, column: str | None) -> Iterable[ArrowExportable]:
    """Return the batches of a pyarrow data set. Reads only a few batches ahead."""
    from pyarrow.dataset import field

    name = column_name_of(empty_reader(data.schema), column)
    # `columns` is a dict: in a list, pyarrow would read a name as the path to a nested field.
    scanner = data.scanner(
        columns={name: field(name)},
        batch_size=_BATCH_ROWS_OF_QUERY,
        batch_readahead=2,
        fragment_readahead=1,
    )
    return [scanner.to_reader()]


def _batches_of_scanner(data: Any, column: str | None) -> Iterable[ArrowExportable]:
    """Return the result of a scanner of pyarrow, whose columns are already chosen."""
    return [data.to_reader()]


def _batches_of_parquet_file(data: Any, column: str | None) -> Iterable[ArrowExportable]:
    """Return the batches of a ``ParquetFile`` of pyarrow."""
    name = column_name_of(empty_reader(data.schema_arrow), column)
    batches: Iterable[ArrowExportable] = data.iter_batches(
        _BATCH_ROWS, columns=[name], use_threads=False
    )
    return batches


def _batches_of_file_reader(data: Any, column: str | None) -> Iterable[ArrowExportable]:
    """Return the batches of a reader of an Arrow file."""
    return map(data.get_batch, range(data.num_record_batches))


_BATCHES_OF = {
    ("datasets", "Dataset"): _batches_of_dataset,
    ("datasets", "IterableDataset"): _batches_of_iterable_dataset,
    ("polars", "LazyFrame"): _batches_of_lazy_frame,
    ("pyarrow", "Dataset"): _batches_of_pyarrow_dataset,
    ("pyarrow", "Scanner"): _batches_of_scanner,
    ("pyarrow", "ParquetFile"): _batches_of_parquet_file,
    ("pyarrow", "RecordBatchFileReader"): _batches_of_file_reader,
}
"""The libraries and classes without the Arrow PyCapsule interface, and how to read them."""


def strings_of(
    parts: Iterable[ArrowExportable],
    column: str | None = None,
    origin: str = "row",
    longest: int | None = None,
    keeps_ends: bool = False,
) -> Generator[ReadBuffer, None, None]:
    """Read the strings of several Arrow objects in order.

    Parameters
    ----------
    parts : iterable of objects with ``__arrow_c_stream__`` or ``__arrow_c_array__``
        Tables, or single columns. Each is freed after its strings were copied to read buffers.
    column : str, optional
        The column of each table. Without it, the column ``text``, or else the only column of
        strings.
    origin : str
        The word before the number of a row in error messages.
    longest : int, optional
        The longest sentence in bytes. Only the beginning of a longer string is kept.
    keeps_ends : bool
        Whether the strings include the CR and LF at their ends.

    Yields
    ------
    ReadBuffer
        Strings. Nulls are counted but left out. The buffers do not
        depend on how the data are divided into parts and batches.

    Raises
    ------
    BadValueError
        If there is no such column, or it does not contain strings.
    TrainingError
        If the data cannot be read.
    """
    buffer = ReadBuffer.of_rows(origin, 1)
    iterator = iter(parts)
    while (part := naming_iterator_errors(lambda: next(iterator, None))) is not None:
        with closing(ArrowStrings(part, column, longest=longest, keeps_ends=keeps_ends)) as strings:
            del part  # after this, only `strings` keeps the part in memory
            while strings.fill(buffer):
                yield buffer
                buffer = ReadBuffer.of_rows(origin, buffer.first_line + buffer.rows)
    if buffer.rows:
        yield buffer
