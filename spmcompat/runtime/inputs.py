"""Opens the files that a command reads."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, FileIO
from typing import TYPE_CHECKING

from spmcompat.errors import (
    FileChangedError,
    MissingFileError,
    TrainingError,
    out_of_memory,
    printable,
    refuse_impossible,
)

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


@contextmanager
def open_file(path: str | os.PathLike[str], remedy: str) -> Iterator[BufferedReader[WholeFile]]:
    """Open a file for a ``with`` statement, and name it in errors that are raised in the statement.

    Parameters
    ----------
    path : path
        The file.
    remedy : str
        What to do about an error, without a full stop.

    Raises
    ------
    MissingFileError
        If the file cannot be opened or read, or is a device without an end.
    OutOfMemoryError
        If memory runs out.
    TrainingError
        If the file becomes shorter while it is read.
    """
    refuse_impossible(path, remedy)
    name = printable(os.fspath(path))
    try:
        with naming_file(path, remedy), BufferedReader(WholeFile(path, name)) as file:
            if _is_endless(file):
                raise MissingFileError(f'"{name}" is a device without an end. {remedy}.')
            yield file
    except MemoryError as error:
        raise out_of_memory(f"Reading {name}", remedy=f"{remedy}.") from error


@contextmanager
def naming_file(path: str | os.PathLike[str], remedy: str) -> Iterator[None]:
    """Convert the errors of the system to a `MissingFileError` with the path and a remedy."""
    try:
        yield
    except TrainingError:
        raise
    except OSError as error:
        name, reason = printable(os.fspath(path)), os.strerror(error.errno or 0)
        raise MissingFileError(f'"{name}": {reason}. {remedy}.') from error


class WholeFile(FileIO):
    """A file that must not become shorter while it is read.

    Reading raises a `TrainingError` at the end of the file if it was larger when it was opened.

    Parameters
    ----------
    file : path or int
        The path of the file, or an open descriptor.
    title : str
        The name of the file in messages.
    """

    def __init__(self, file: str | os.PathLike[str] | int, title: str) -> None:
        super().__init__(file, "rb")
        self._title = title
        self._first_size = self.size()

    def size(self) -> int:
        """Return the present size in bytes, or 0 if this is not a regular file."""
        status = os.fstat(self.fileno())
        return status.st_size if stat.S_ISREG(status.st_mode) else 0

    def read(self, size: int | None = -1, /) -> bytes:
        """Return at most `size` bytes."""
        data = super().read(size)
        if not data and size != 0:
            self._check_end()
        return data

    def readall(self) -> bytes:
        """Return all bytes to the end of the file."""
        data = super().readall()
        self._check_end()
        return data

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Put bytes into the buffer, and return their number."""
        size = super().readinto(buffer)
        if size == 0 and memoryview(buffer).nbytes > 0:
            self._check_end()
        return size

    def _check_end(self) -> None:
        """Raise if the end of the file comes before its size when it was opened."""
        if self._first_size and self.tell() < self._first_size:
            raise changed(self._title)


def changed(name: str) -> TrainingError:
    """Return the error about a file that changed while it was read."""
    return FileChangedError(
        f"{name} changed while it was read. Run the command again when no program writes to it."
    )


def _is_endless(file: BufferedReader[WholeFile]) -> bool:
    """Return whether a file is a device other than a terminal or the null device."""
    if sys.platform == "win32":
        return False
    status = os.fstat(file.fileno())
    if not stat.S_ISCHR(status.st_mode) or file.isatty():
        return False
    return status.st_rdev != os.stat(os.devnull).st_rdev
