"""The folder of a report. Files that the user put there are never replaced."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from spmcompat.errors import BadValueError, OverwriteError, UnwritableError, refuse_impossible
from spmcompat.runtime.outputs import refuse_inputs
from spmcompat.runtime.progress import Report

if sys.platform != "win32":
    import fcntl


class FolderInUseError(BadValueError):
    """Another run of the command uses the folder."""

    kind = "folder-in-use"


LIST = ".spmcompat-compare"
"""A file in this folder that lists all files the command has created there.

A run locks this file until it ends. So names are appended: if the file were replaced, the next run
would lock the new file.
"""

OPTION = "--output"


class ReportFolder:
    """The folder of a report.

    Parameters
    ----------
    path : Path
        The folder. `lock` creates it.
    inputs : sequence of str
        The files that the command reads. It must not replace them.

    Raises
    ------
    MissingFileError
        If `path` contains a NUL character or a lone surrogate.
    """

    def __init__(self, path: Path, inputs: Sequence[str]) -> None:
        refuse_impossible(path, "Check --output")
        self.path = path
        self._inputs = inputs
        self._own = self._listed()

    @contextmanager
    def lock(self, report: Report) -> Iterator[None]:
        """Create the folder, and keep other runs out of it in a ``with`` statement.

        The system releases the lock when the process ends, however it ends. If the file system
        cannot lock files, a warning is shown.

        Raises
        ------
        BadValueError
            If another run uses the folder.
        MissingFileError
            If the folder or the list of files cannot be created.
        """
        with self._named():
            self.path.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path / LIST, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            self._lock(file, report)
            self._own = self._listed()
            yield
        finally:
            os.close(file)

    def claim(self, *names: str) -> list[Path]:
        """Return the paths of files that the command will write, and add them to its list of files.

        Raises
        ------
        BadValueError
            If `check` raises it.
        MissingFileError
            If the folder cannot be created or the list cannot be written.
        """
        paths = self.check(*names)
        new = [name for name in names if name not in self._own]
        with self._named():
            for path in paths:
                path.parent.mkdir(parents=True, exist_ok=True)
            if new:
                with open(self.path / LIST, "ab") as file:
                    file.write("".join(f"{name}\n" for name in new).encode())
        self._own.update(new)
        return paths

    def check(self, *names: str) -> list[Path]:
        """Return the paths of files that the command may write.

        Raises
        ------
        BadValueError
            If one of the files is an input, or exists although the command did not create it.
        """
        paths = [self.path / name for name in names]
        refuse_inputs([*paths, self.path / LIST], self._inputs, OPTION)
        for name, path in zip(names, paths, strict=True):
            # A folder is not refused here: writing the file will fail with a clearer error.
            if name not in self._own and os.path.lexists(path) and not path.is_dir():
                raise OverwriteError(
                    f'"{path}": spmcompat compare did not create this file. Choose another '
                    f"{OPTION}, or move the file."
                )
        return paths

    def _lock(self, file: int, report: Report) -> None:
        try:
            if sys.platform != "win32":  # where the command can only read stored results
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise FolderInUseError(
                f'"{self.path}": another run of spmcompat compare uses this folder. Wait until it '
                f"has ended, or choose another {OPTION}."
            ) from error
        except OSError as error:
            report.warning(
                f'"{self.path}" cannot be locked: {error.strerror}. Make sure that no other run of '
                "spmcompat compare uses this folder at the same time."
            )

    def _listed(self) -> set[str]:
        try:
            return {*(self.path / LIST).read_text(encoding="utf-8").splitlines()}
        except (OSError, ValueError):
            return set()

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Convert errors of the operating system to errors that name the folder."""
        try:
            yield
        except OSError as error:
            raise UnwritableError(f'"{self.path}": {error.strerror}. Check {OPTION}.') from error
