"""Objects that hand out Arrow data, of any library, as read buffers.

Most have a method of the Arrow PyCapsule interface. Data sets of Hugging Face and lazy frames of
polars have none: they give batches that have one. They are recognized by the names of their
classes, so that no library is imported.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing
from typing import Protocol, TypeAlias, TypeGuard

from spmcompat.text.arrow_strings import ArrowStrings
from spmcompat.text.lines import ReadBuffer


class ArrowStreamExportable(Protocol):
    """Data in batches: a table, a column in chunks, a reader."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return a capsule with an ``ArrowArrayStream``."""


class ArrowArrayExportable(Protocol):
    """A single batch: a record batch, or a column."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """Return capsules with an ``ArrowSchema`` and an ``ArrowArray``."""


ArrowExportable: TypeAlias = "ArrowStreamExportable | ArrowArrayExportable"


def is_arrow(data: object) -> TypeGuard[ArrowExportable]:
    """Tell whether an object has a method of the Arrow PyCapsule interface."""
    kind = type(data)
    return hasattr(kind, "__arrow_c_stream__") or hasattr(kind, "__arrow_c_array__")


def strings_of(
    data: ArrowExportable, column: str | None = None, origin: str = "row"
) -> Generator[ReadBuffer, None, None]:
    """Read the strings of one Arrow object: see `strings_of_all`."""
    return strings_of_all([data], column, origin)


def strings_of_all(
    parts: Iterable[ArrowExportable], column: str | None = None, origin: str = "row"
) -> Generator[ReadBuffer, None, None]:
    """Read the strings of Arrow objects, one after the other.

    Parameters
    ----------
    parts : iterable of objects with ``__arrow_c_stream__`` or ``__arrow_c_array__``
        Tables, or columns by themselves. Each is dropped when its strings are in read buffers.
    column : str, optional
        The column of each table. Without it, the column ``text``, or else the only column that
        holds strings.
    origin : str
        What error messages put before the number of a row.

    Yields
    ------
    ReadBuffer
        Strings without CR and LF at their ends; nulls are left out and counted. The buffers do not
        depend on how the data are divided into parts and batches.

    Raises
    ------
    BadValueError
        If there is no such column, or it holds no strings.
    TrainingError
        If the data cannot be read.
    """
    buffer = ReadBuffer.of_rows(origin, 1)
    for part in parts:
        with closing(ArrowStrings(part, column)) as strings:
            del part  # Only the strings keep it, so that it is freed before the next one is made.
            while strings.fill(buffer):
                yield buffer
                buffer = ReadBuffer.of_rows(origin, buffer.first_line + buffer.lines + buffer.nulls)
    if buffer.lines or buffer.nulls:
        yield buffer
