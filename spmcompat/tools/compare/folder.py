"""The folder of a report. Files that the user put there are never replaced."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from spmcompat.errors import BadValueError, MissingFileError, refuse_impossible
from spmcompat.runtime.outputs import refuse_inputs, write_files

LIST = ".spmcompat-compare"
"""A file in this folder that lists all files the command has created there."""

OPTION = "--output"


class ReportFolder:
    """The folder of a report.

    Parameters
    ----------
    path : Path
        The folder. It is created when the first file is claimed.
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
        try:
            for path in paths:
                path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MissingFileError(f'"{self.path}": {error.strerror}. Check --output.') from error
        if not self._own.issuperset(names):
            self._own.update(names)
            lines = "".join(f"{name}\n" for name in sorted(self._own))
            write_files({str(self.path / LIST): [lines.encode()]}, OPTION)
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
                raise BadValueError(
                    f'"{path}": spmcompat compare did not create this file. Choose another '
                    f"{OPTION}, or move the file."
                )
        return paths

    def _listed(self) -> set[str]:
        try:
            return {*(self.path / LIST).read_text(encoding="utf-8").splitlines()}
        except (OSError, ValueError):
            return set()
