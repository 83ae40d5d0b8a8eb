"""Opens files, pipes, standard input and remote addresses, and reads their first bytes."""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager

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
            yield InputFile(path, far)
        finally:
            far.close()
        return
    with WholeFile(path or 0, name_of(path)) as file:
        is_regular = bool(path) and stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        yield InputFile(path, file if is_regular else _Pipe(file))


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


class InputFile:
    """An open input, which is read from its beginning.

    Attributes
    ----------
    path : str
        Its path.
    file : file object
        The open file. If it is not regular, `head` has already been read from it.
    head : bytes
        Its first `HEAD_BYTES` bytes.
    is_regular : bool
        Whether it is a local file, of which any part can be read again.
    consumed : int
        The number of bytes that were read.
    """

    def __init__(self, path: str, file: WholeFile | _Pipe | remote.RemoteFile) -> None:
        self.path = path
        self.file = file
        self.is_regular = isinstance(file, WholeFile)
        self.consumed = 0
        self.head = b""
        while len(self.head) < HEAD_BYTES and (part := file.read(HEAD_BYTES - len(self.head))):
            self.head += part
        self._peeked = self.head
        if isinstance(file, WholeFile):
            file.seek(0)
            self._peeked = b""

    @property
    def size(self) -> int | None:
        """The size in bytes, or None if it is unknown."""
        if isinstance(self.file, WholeFile):
            return self.file.size()
        return remote.size_of(self.path) if is_remote(self.path) else None

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes. An empty result means the end of the input."""
        data, self._peeked = self._peeked[:size], self._peeked[size:]
        data = data or self.file.read(size)
        self.consumed += len(data)
        return data

    def readinto(self, buffer: bytearray | memoryview, /) -> int:
        """Put bytes into the buffer, and return their number; 0 at the end of the input."""
        if isinstance(self.file, WholeFile):
            size = self.file.readinto(buffer)
            self.consumed += size
            return size
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
