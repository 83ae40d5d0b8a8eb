"""Opens files, pipes, standard input and remote addresses, and reads their first bytes."""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

from spmcompat.runtime.inputs import WholeFile
from spmcompat.text import remote
from spmcompat.text.forms import HEAD_BYTES, Form, form_of, format_of

_LONGEST_WAIT = 500  # milliseconds


@contextmanager
def open_input(path: str) -> Iterator[InputFile]:
    """Open an input for a ``with`` statement.

    Raises
    ------
    OSError
        If the input cannot be opened. For a remote address, the error is a `MissingFileError`.
    """
    if is_remote(path):
        far = remote.open_remote(path)
        try:
            yield Stream(path, far)
        finally:
            far.close()
        return
    with WholeFile(path or 0, name_of(path)) as file:
        is_regular = bool(path) and stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        yield RegularFile(path, file) if is_regular else Stream(path, _Pipe(file))


def is_remote(path: str) -> bool:
    """Return whether a path is a remote address, and no local file has that path."""
    return remote.is_address(path) and not os.path.exists(path)


def name_of(path: str) -> str:
    """Return the name of an input for error messages."""
    return path or "standard input"


def format_of_path(path: str, input_format: str, has_column: bool) -> str:
    """Return the format in which an input will be read. Does not open the input.

    The parameters `input_format` and `has_column` are those of `form_of`.
    """
    name = remote.base_of(path) if is_remote(path) else path
    return format_of(name, input_format, has_column)


def form_of_input(file: InputFile, input_format: str, has_column: bool) -> Form:
    """Return the compression and the format of an input.

    The parameters `input_format` and `has_column` are those of `form_of`.

    Raises
    ------
    TrainingError
        If the name and the content of the input do not agree.
    """
    path = remote.base_of(file.path) if is_remote(file.path) else file.path
    return form_of(path, file.head, input_format, has_column, may_rename=file.is_regular)


class RegularFile:
    """A local file.

    Attributes
    ----------
    path : str
        Its path.
    head : bytes
        Its first `HEAD_BYTES` bytes.
    is_regular : bool
        Whether any part of the input can be read again.
    consumed : int
        The number of bytes that were read.
    """

    is_regular = True

    def __init__(self, path: str, file: WholeFile) -> None:
        self.path = path
        self.head = file.read(HEAD_BYTES)
        file.seek(-len(self.head), os.SEEK_CUR)
        self.consumed = 0
        self._file = file

    @property
    def size(self) -> int | None:
        """The size in bytes."""
        return self._file.size()

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes. An empty result means the end of the file."""
        data = self._file.read(size)
        self.consumed += len(data)
        return data

    def readinto(self, buffer: bytearray | memoryview, /) -> int:
        """Put bytes into the buffer, and return their number; 0 at the end of the file."""
        size = self._file.readinto(buffer)
        self.consumed += size
        return size


class _Pipe:
    """A pipe, a terminal or another local file that may make its reader wait.

    A signal that arrives just before a system call does not interrupt the call, and a pipe may
    never receive data. So a read first waits for data in short intervals: Python handles signals
    between them.
    """

    def __init__(self, file: WholeFile) -> None:
        self._file = file

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes. An empty result means the end of the input."""
        if sys.platform != "win32":
            ready = select.poll()
            ready.register(self._file, select.POLLIN)
            while not ready.poll(_LONGEST_WAIT):
                pass
        return self._file.read(size)


class Stream:
    """An input that can be read only once. It has the same attributes as `RegularFile`.

    Attributes
    ----------
    file : file object
        The open file. `head` has already been read from it.
    """

    is_regular = False

    def __init__(self, path: str, file: _Pipe | remote.RemoteFile) -> None:
        self.path = path
        self.consumed = 0
        self.file = file
        self.head = self._peek()
        self._peeked = self.head

    def _peek(self) -> bytes:
        head = b""
        while len(head) < HEAD_BYTES and (part := self.file.read(HEAD_BYTES - len(head))):
            head += part
        return head

    @property
    def size(self) -> int | None:
        """The size in bytes, or None if it is unknown."""
        return remote.size_of(self.path) if is_remote(self.path) else None

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes. An empty result means the end of the input."""
        data, self._peeked = self._peeked[:size], self._peeked[size:]
        data = data or self.file.read(size)
        self.consumed += len(data)
        return data

    def readinto(self, buffer: bytearray | memoryview, /) -> int:
        """Put bytes into the buffer, and return their number; 0 at the end of the input."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


InputFile: TypeAlias = "RegularFile | Stream"
