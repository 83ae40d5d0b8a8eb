"""Reads files at addresses such as ``s3://bucket/a.txt``, with fsspec if it is installed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from spmcompat.errors import MissingFileError, TrainingError
from spmcompat.runtime.libraries import MissingLibraryError, require

# If fsspec requests a range of bytes and receives the whole file, its error contains this text.
_NO_RANGES = "range requests"
_BLOCK_BYTES = 1 << 20

# A chain such as simplecache::s3://bucket/a.txt is also an address.
_ADDRESS = r"(?:[A-Za-z][A-Za-z0-9+.-]*::)*[A-Za-z][A-Za-z0-9+.-]*://"


def is_address(path: str) -> bool:
    """Return whether a path has the form of an fsspec address."""
    return "://" in path and re.match(_ADDRESS, path) is not None


def matches(pattern: str) -> list[str]:
    """Return the addresses of the files that match a pattern, in order."""
    with _naming(pattern):
        system, path = _system(pattern)
        found = [name for name in system.glob(path) if not system.isdir(name)]
        return sorted(str(system.unstrip_protocol(name)) for name in found)


def size_of(address: str) -> int | None:
    """Return the size of a file, or None if the server does not report it.

    Raises
    ------
    MissingFileError
        If there is no such file.
    """
    with _naming(address):
        system, path = _system(address)
        size = system.info(path).get("size")
    return int(size) if size is not None else None


def open_remote(address: str) -> RemoteFile:
    """Open a file.

    Raises
    ------
    MissingFileError
        If the file cannot be opened.
    """
    with _naming(address):
        return RemoteFile(address, *_system(address))


def local_path(address: str) -> str:
    """Return the path of a local file at an address such as ``file:///a.txt``, or else the address.

    In a chain such as ``zip://a.txt::file:///a.zip``, the last address is that of the file.
    """
    last = address.rpartition("::")[2]
    local = re.sub("^(file|local)://", "", last)
    return address if local == last else local


def base_of(address: str) -> str:
    """Return an address without its query and fragment, such as ``?download=true``."""
    return re.split(r"[?#]", address, maxsplit=1)[0]


class RemoteFile:
    """A file on a server. Error messages contain its address.

    The file is read in byte ranges if the server supports them, and otherwise as a stream.

    Parameters
    ----------
    address : str
        The address.
    system : AbstractFileSystem
        The file system of fsspec.
    path : str
        The path of the file in `system`.

    Attributes
    ----------
    file : file object
        The file object of fsspec.
    """

    def __init__(self, address: str, system: Any, path: str) -> None:
        self._address = address
        self._system = system
        self._path = path
        self._position = 0
        # The file is not decompressed by fsspec, which would read only its first compressed frame.
        self.file = system.open(path, "rb")

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes. An empty result means the end of the file."""
        with _naming(self._address):
            try:
                data = cast(bytes, self.file.read(size))
            except ValueError as error:
                if _NO_RANGES not in str(error):
                    raise
                self._reopen()
                data = cast(bytes, self.file.read(size))
        self._position += len(data)
        return data

    def _reopen(self) -> None:
        """Open the file as a stream, and skip the bytes that were already read."""
        self.file.close()
        self.file = self._system.open(self._path, "rb", block_size=0)
        left = self._position
        while left and (data := self.file.read(min(left, _BLOCK_BYTES))):
            left -= len(data)

    def rewound(self, title: str) -> Any:
        """Go back to the beginning and return the fsspec file, for a reader that must seek.

        Parameters
        ----------
        title : str
            The name of the file format, for messages.

        Raises
        ------
        MissingFileError
            If the server cannot send parts of the file.
        """
        if not _has_ranges(self.file):
            raise MissingFileError(
                f'"{self._address}": the server cannot send parts of a file, which is '
                f"how {title} files are read: download the file first."
            )
        self.file.seek(0)
        return self.file

    def close(self) -> None:
        """Close the file."""
        self.file.close()


def _system(address: str) -> tuple[Any, str]:
    """Return the file system of an address and the path of the file in it."""
    require("fsspec", f"Reading the address {address}", "remote")
    from fsspec.core import url_to_fs

    system, path = url_to_fs(address)
    return system, str(path)


@contextmanager
def _naming(address: str) -> Iterator[None]:
    """Convert the errors of a file system, which may have any type, to errors with the address."""
    try:
        yield
    except (TrainingError, MemoryError):
        raise
    except FileNotFoundError as error:
        reason = _answer_of(error) or "No such file or directory"
        raise MissingFileError(
            f'"{address}": {reason}. Check the address given for input.'
        ) from None
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, ImportError):
            raise MissingLibraryError(
                f'"{address}": {reason}. Install the named packages with pip.'
            ) from error
        raise MissingFileError(
            f'"{address}": {reason}. Check the address given for input.'
        ) from error


def _has_ranges(file: Any) -> bool:
    """Return whether the server can send a range of bytes of a file."""
    try:
        file.seek(0, 2)
        file.seek(max(file.tell() - 8, 0))
        file.read(8)
    except ValueError:  # raised for streams, and for servers that do not support ranges
        return False
    return True


def _answer_of(error: BaseException | None) -> str:
    """Describe the server's answer to a request that failed: its HTTP status and its message.

    Returns "" if the status is "not found" or unknown.

    fsspec raises `FileNotFoundError` for every error status, and the cause of this exception
    contains the status.
    """
    while error is not None:
        status = getattr(error, "status", None)
        if isinstance(status, int):
            said = " ".join(str(getattr(error, "message", "")).split())
            return "" if status in (404, 410) else f"the server answered {status} {said}".strip()
        error = error.__cause__ or error.__context__
    return ""
