"""Reads columns of a Parquet file in batches of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from spmcompat.errors import BadValueError, TrainingError
from spmcompat.runtime.libraries import require
from spmcompat.text.arrow_producers import column_name_of, strings_of_all
from spmcompat.text.lines import ReadBuffer
from spmcompat.text.opening import InputFile, RegularFile, Stream, name_of
from spmcompat.text.remote import RemoteFile

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

# The amount of text that is decoded at a time, estimated from the sizes in the file, and the
# maximum number of rows.
_BATCH_BYTES = 1 << 22
_BATCH_ROWS = 1 << 14
# A file is refused if the cells of a row group are larger than this on average. pyarrow decodes
# whole pages, and needs memory for several times the size of a page.
_MOST_CELL_BYTES = 1 << 24


def require_reader() -> None:
    """Raise if pyarrow is not installed.

    Raises
    ------
    MissingLibraryError
        With a message that says what to install.
    """
    require("pyarrow", "Reading Parquet files", "parquet")


def read_column(file: InputFile, column: str, longest: int | None = None) -> Iterator[ReadBuffer]:
    """Yield the strings of a column.

    Parameters
    ----------
    file : InputFile
        The file.
    column : str
        The name of the column. If it is empty, the column ``text`` is read, or else the only column
        of strings.
    longest : int, optional
        The longest sentence in bytes. Only the beginning of a longer string is kept.

    Raises
    ------
    TrainingError
        If the column does not exist or does not contain strings, or the file is broken.
    """
    name = name_of(file.path)
    parquet, (chosen,) = _open(file, [column])
    size = file.size or 0
    rows = max(parquet.metadata.num_rows, 1)
    done = taken = 0
    batches = _batches(parquet, [chosen], name)
    for buffer in strings_of_all(batches, chosen, name, longest):
        done += buffer.lines + buffer.nulls
        buffer.input_size = size * done // rows - taken
        taken += buffer.input_size
        yield buffer


def read_columns(file: InputFile, columns: Sequence[str]) -> Iterator[tuple[str | None, ...]]:
    """Yield the values of several columns of strings in each row.

    Raises
    ------
    TrainingError
        If a column does not exist or does not contain strings, or the file is broken.
    """
    name = name_of(file.path)
    parquet, chosen = _open(file, columns)
    for batch in _batches(parquet, chosen, name):
        with _naming(name):
            values = [_texts(batch.column(column)) for column in chosen]
        yield from zip(*values, strict=True)


def _texts(column: pa.DictionaryArray) -> list[str | None]:
    """Return the values of a column. Equal values are one object, as in the file."""
    from pyarrow import string  # noqa: PLC0415

    texts: list[str] = column.dictionary.cast(string()).to_pylist()
    return [None if index is None else texts[index] for index in column.indices.to_pylist()]


def _open(file: InputFile, columns: Sequence[str]) -> tuple[ParquetFile, list[str]]:
    """Open a file. Return it, and the names of the columns to read."""
    require_reader()
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415

    name = name_of(file.path)
    with _naming(name):
        # With pre_buffer, pyarrow would read whole row groups into memory.
        source = _source(file)
        parquet = ParquetFile(source, pre_buffer=False, buffer_size=1 << 20)
    chosen = [_choose(parquet.schema_arrow, column, name) for column in columns]
    # The file stores equal cells once. Reading the columns as dictionaries also decodes them once;
    # otherwise, long cells that occur often could fill the memory.
    with _naming(name):
        parquet = ParquetFile(
            source,
            metadata=parquet.metadata,
            pre_buffer=False,
            buffer_size=1 << 20,
            read_dictionary=chosen,
        )
    return parquet, chosen


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Convert errors of pyarrow to one-line errors that name the file."""
    try:
        yield
    except (TrainingError, MemoryError):
        raise
    # fsspec raises exceptions of any type, and pyarrow raises UnicodeDecodeError for damaged text.
    except Exception as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise TrainingError(
            f"{name} is broken or ends early: {reason}. Copy or make the file again."
        ) from None


def _source(file: InputFile) -> Any:
    """Return the path or the file object that pyarrow opens."""
    if isinstance(file, RegularFile):
        return file.path
    assert isinstance(file, Stream)
    if isinstance(file.file, RemoteFile):
        return file.file.rewound()
    raise TrainingError(
        f"{name_of(file.path)} contains Parquet data, which cannot be read from a pipe: give a "
        "file."
    )


def _choose(schema: pa.Schema, column: str, name: str) -> str:
    """Return the name of the column to read."""
    try:
        return column_name_of(schema.empty_table(), column or None, "--input_column")
    except BadValueError as error:
        raise BadValueError(f"{name}: {error}") from None


def _batches(parquet: ParquetFile, columns: Sequence[str], name: str) -> Iterator[pa.RecordBatch]:
    """Yield the rows of each row group in batches."""
    for group in range(parquet.num_row_groups):
        size = sum(_bytes_of(parquet, group, column, name) for column in columns)
        rows = _BATCH_BYTES * parquet.metadata.row_group(group).num_rows // max(size, 1)
        batches = parquet.iter_batches(
            batch_size=min(max(rows, 16), _BATCH_ROWS),
            row_groups=[group],
            columns=columns,
            use_threads=False,
        )
        with _naming(name):
            yield from batches


def _bytes_of(parquet: ParquetFile, group: int, column: str, name: str) -> int:
    """Return the size of a column in a row group, and raise if its cells are too large."""
    facts = parquet.metadata.row_group(group)
    # Without nested columns, each column of the schema is one column of the file.
    is_flat = facts.num_columns == len(parquet.schema_arrow.names)
    at = parquet.schema_arrow.names.index(column)
    size: int = facts.column(at).total_uncompressed_size if is_flat else facts.total_byte_size
    if is_flat and size > _MOST_CELL_BYTES * facts.num_rows:
        raise TrainingError(
            f"{name}: row group {group} of {column!r} has {size:,} bytes in {facts.num_rows} "
            "rows, which would need too much memory. Divide the texts into sentences, or write "
            "them as JSON Lines."
        )
    return size
