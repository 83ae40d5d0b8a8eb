"""Helpers for files that pyarrow reads: Parquet and Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from spmcompat.errors import (
    BadValueError,
    BrokenFileError,
    ReadOnceError,
    TrainingError,
    WrongColumnError,
    is_out_of_memory,
)
from spmcompat.text.arrow_producers import empty_reader
from spmcompat.text.columns import ArrowStrings
from spmcompat.text.formats import FORMATS
from spmcompat.text.opening import InputFile, name_of
from spmcompat.text.remote import RemoteFile

if TYPE_CHECKING:
    import pyarrow as pa


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Convert errors of pyarrow to one-line errors that name the file."""
    try:
        yield
    except (TrainingError, MemoryError):
        raise
    # fsspec raises exceptions of any type, and pyarrow raises UnicodeDecodeError for damaged text.
    except Exception as error:
        if is_out_of_memory(error):
            raise MemoryError(*error.args) from None
        reason = " ".join(str(error).split()).rstrip(".")
        raise BrokenFileError(
            f"{name} is broken or ends early: {reason}. Copy or make the file again."
        ) from None


def seekable(file: InputFile, input_format: str) -> Any:
    """Return a path or a file object that pyarrow can open, and in which it can seek.

    Raises
    ------
    TrainingError
        If the file is a pipe, or is on a server that cannot send parts of a file.
    """
    if file.is_regular:
        return file.path
    title = FORMATS[input_format].title
    if isinstance(file.file, RemoteFile):
        return file.file.rewound(title)
    raise ReadOnceError(
        f"{name_of(file.path)} contains {title} data, which cannot be read from a pipe: give a "
        "file."
    )


def column_of_schema(
    schema: pa.Schema, column: str, name: str, flag: str = "--input_column"
) -> tuple[str, str]:
    """Return the name of the column that contains the text, and the path to the text in the column.

    Parameters
    ----------
    schema : pyarrow.Schema
        The columns.
    column : str
        The column or nested field that the user named; empty for the default.
    name : str
        The name of the file in messages.
    flag : str
        The flag that names the column, as messages write it.

    Raises
    ------
    BadValueError
        If there is no such column, or it does not contain strings.
    """
    try:
        strings = ArrowStrings(empty_reader(schema), column or None, flag)
    except BadValueError as error:
        raise WrongColumnError(f"{name}: {error}") from None
    assert strings.column_name is not None
    assert strings.column_path is not None
    return strings.column_name, strings.column_path
