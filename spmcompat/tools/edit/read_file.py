"""Detects that a file changes between reading it and replacing it.

Two commands that change the same file at the same time would both read the old file, and the second
one would replace the result of the first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from spmcompat.errors import FileChangedError

if sys.platform != "win32":
    import fcntl


class ReadFile:
    """A file that a command reads, and may replace.

    Parameters
    ----------
    path : path
        The file. It must not have been read yet.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        self._state = _state_of(path)

    def is_at(self, path: str | os.PathLike[str]) -> bool:
        """Return whether a new file at this path would replace the file."""
        return os.path.realpath(path) == os.path.realpath(self._path)

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Check the file, and keep other commands from replacing it in a ``with`` statement.

        Raises
        ------
        TrainingError
            If the file is not the one that was read, or another command is replacing it.
        """
        descriptor = -1
        try:
            with suppress(OSError):
                descriptor = os.open(self._path, os.O_RDONLY)
            if not _is_free(descriptor) or self._state != _state_of(self._path):
                raise FileChangedError(
                    f'"{os.fspath(self._path)}" changed after it was read, so it is not replaced. '
                    "Run the command again."
                )
            yield
        finally:
            if descriptor >= 0:
                os.close(descriptor)


def _is_free(descriptor: int) -> bool:
    """Lock a file until its descriptor is closed. Return whether no other command has locked it."""
    if sys.platform != "win32":
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except (OSError, ValueError):  # on file systems without locks, the state must suffice
            pass
    return True


def _state_of(path: str | os.PathLike[str]) -> tuple[int, ...] | None:
    """Return what differs after a file was changed or replaced; None if there is no file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError, TypeError):  # reading reports what is wrong with the path
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
