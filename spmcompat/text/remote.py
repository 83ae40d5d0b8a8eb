"""Files at addresses such as ``s3://bucket/a.txt``, by fsspec, where that is installed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from spmcompat.errors import MissingFileError, TrainingError
from spmcompat.runtime.libraries import require

# A chain such as simplecache::s3://bucket/a.txt is an address too.
_ADDRESS = r"(?:[A-Za-z][A-Za-z0-9+.-]*::)*[A-Za-z][A-Za-z0-9+.-]*://"


def is_address(path: str) -> bool:
    """Tell whether a path is an address of fsspec."""
    return "://" in path and re.match(_ADDRESS, path) is not None


def matches(pattern: str) -> list[str]:
    """Return the addresses of the files that match a pattern, in order."""
    with _naming(pattern):
        system, path = _system(pattern)
        found = [name for name in system.glob(path) if not system.isdir(name)]
        return sorted(str(system.unstrip_protocol(name)) for name in found)


def size_of(address: str) -> int | None:
    """Return the size of a file, or None where the server does not tell it.

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
        If it cannot be opened.
    """
    with _naming(address):
        system, path = _system(address)
        # Without the compression that fsspec could undo: it reads only the first frame of a file.
        return RemoteFile(address, system.open(path, "rb"))


def base_of(address: str) -> str:
    """Return an address without what follows the path, such as ``?download=true``."""
    return re.split(r"[?#]", address, maxsplit=1)[0]


class RemoteFile:
    """A file that is read from a server; errors name its address.

    Attributes
    ----------
    file : file object
        What fsspec returned.
    """

    def __init__(self, address: str, file: Any) -> None:
        self._address = address
        self.file = file

    def read(self, size: int, /) -> bytes:
        """Return at most so many bytes; none at the end."""
        with _naming(self._address):
            return cast(bytes, self.file.read(size))

    def close(self) -> None:
        """Close the file."""
        self.file.close()


def _system(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path of the file there."""
    require("fsspec", f"Reading the address {address}", "remote")
    from fsspec.core import url_to_fs  # noqa: PLC0415

    system, path = url_to_fs(address)
    return system, str(path)


@contextmanager
def _naming(address: str) -> Iterator[None]:
    """Turn what a file system raises, which may be of any type, into an error with the address."""
    try:
        yield
    except (TrainingError, MemoryError):
        raise
    except FileNotFoundError:
        raise MissingFileError(
            f'NOT_FOUND: "{address}": No such file or directory: check --input.'
        ) from None
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise MissingFileError(f'NOT_FOUND: "{address}": {reason}: check --input.') from error
