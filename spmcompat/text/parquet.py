"""One column of a Parquet file, some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from spmcompat.errors import TrainingError
from spmcompat.text.arrow_columns import DEFAULT_COLUMN
from spmcompat.text.arrow_producers import strings_of_all
from spmcompat.text.lines import ReadBuffer
from spmcompat.text.opening import InputFile, RegularFile, Stream, name_of
from spmcompat.text.remote import RemoteFile

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

# How much text is decoded at a time, as far as the sizes in the file tell, and the most rows.
_BATCH_BYTES = 1 << 22
_BATCH_ROWS = 1 << 14


def require_pyarrow() -> None:
    """Raise if pyarrow is not installed.

    Raises
    ------
    TrainingError
        It says what to install.
    """
    if find_spec("pyarrow") is None:
        raise TrainingError(
            "To read Parquet files, the package pyarrow is needed: "
            "pip install 'spmcompat[parquet]'."
        )


def read_column(file: InputFile, column: str) -> Iterator[ReadBuffer]:
    """Yield the strings of a column.

    Parameters
    ----------
    file : InputFile
        The file.
    column : str
        The name of the column; empty for ``text``, or the only column of strings if there is no
        ``text``.

    Raises
    ------
    TrainingError
        If there is no such column, it holds no strings, or the file is broken.
    """
    require_pyarrow()
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415

    name = name_of(file.path)
    with _naming(name):
        # Without buffering in advance, which holds whole row groups.
        parquet = ParquetFile(_source(file), pre_buffer=False, buffer_size=1 << 20)
    chosen = _choose(parquet.schema_arrow, column, name)
    size = file.size or 0
    rows = max(parquet.metadata.num_rows, 1)
    done = taken = 0
    for buffer in strings_of_all(_batches(parquet, chosen, name), chosen, name):
        done += buffer.lines + buffer.nulls
        buffer.input_size = size * done // rows - taken
        taken += buffer.input_size
        yield buffer


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Turn an error of pyarrow into one line that names the file."""
    import pyarrow as pa  # noqa: PLC0415

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, TrainingError | MemoryError):
            raise
        reason = " ".join(str(error).split()).rstrip(".")
        raise TrainingError(
            f"{name} is broken or ends early: {reason}. Copy or make the file again."
        ) from None


def _source(file: InputFile) -> Any:
    """Return what pyarrow opens."""
    if isinstance(file, RegularFile):
        return file.path
    assert isinstance(file, Stream)
    if isinstance(file.file, RemoteFile):
        file.file.file.seek(0)
        return file.file.file
    raise TrainingError(
        f"{name_of(file.path)} holds Parquet data, which cannot be read from a pipe: give a file."
    )


def _choose(schema: pa.Schema, column: str, name: str) -> str:
    """Return the column to read."""
    strings = [field.name for field in schema if _holds_strings(field.type)]
    wanted = column or DEFAULT_COLUMN
    if not column and wanted not in schema.names and len(strings) == 1:
        wanted = strings[0]
    found = schema.names.count(wanted)
    if found == 0:
        listed = ", ".join(f"{field.name} ({field.type})" for field in schema)
        raise TrainingError(
            f'{name} has no column "{wanted}"; it has {listed or "none"}. Give one of them as '
            "--input_column."
        )
    if found > 1:
        raise TrainingError(f'{name} has {found} columns "{wanted}": rename one of them.')
    if wanted not in strings:
        others = f"Columns of strings: {', '.join(strings)}." if strings else "It has no others."
        kind = schema.field(wanted).type
        raise TrainingError(f'{name}: the column "{wanted}" holds {kind}, not strings. {others}')
    return wanted


def _holds_strings(kind: pa.DataType) -> bool:
    import pyarrow as pa  # noqa: PLC0415

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    names = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
    return pa.types.is_null(kind) or str(kind) in names


def _batches(parquet: ParquetFile, column: str, name: str) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one row group after the other."""
    at = parquet.schema_arrow.names.index(column)
    for group in range(parquet.num_row_groups):
        facts = parquet.metadata.row_group(group)
        # Without nested columns, each column of the schema is one of the file.
        is_flat = facts.num_columns == len(parquet.schema_arrow.names)
        size = facts.column(at).total_uncompressed_size if is_flat else facts.total_byte_size
        rows = _BATCH_BYTES * facts.num_rows // max(size, 1)
        batches = parquet.iter_batches(
            batch_size=min(max(rows, 16), _BATCH_ROWS),
            row_groups=[group],
            columns=[column],
            use_threads=False,
        )
        with _naming(name):
            yield from batches
