"""Runs one input of a target in this process, and checks how the command ends."""

from __future__ import annotations

import os
import shutil
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from tests.fuzz.targets import Target
from tests.hostile.forked import Outcome


class MisbehavedError(Exception):
    """Raised if a command does not end as `tests.hostile` requires."""


class Runner:
    """Runs the inputs of a target.

    Parameters
    ----------
    target : Target
        What reads the inputs.
    folder : Path
        An empty folder for the files that the commands read and write.

    Attributes
    ----------
    seeds : sequence of bytes
        The first inputs.
    """

    def __init__(self, target: Target, folder: Path) -> None:
        self._target = target
        self._valid, self._case = folder / "valid", folder / "case"
        self._valid.mkdir()
        os.chdir(self._valid)
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            self.seeds = target.prepare(self._valid)

    def run(self, data: bytes) -> Outcome:
        """Run one input.

        Raises
        ------
        MisbehavedError
            If the command misbehaves, for example prints a traceback or several lines of errors.
            Exceptions of the command are not caught.
        """
        self._case.mkdir()
        os.chdir(self._case)
        command = self._target.command(data, self._valid, self._case)
        stdout, stderr = StringIO(), StringIO()
        try:
            with redirect_stdout(stdout), redirect_stderr(stderr):
                status = command()
        finally:
            os.chdir(self._valid)
            shutil.rmtree(self._case)
        # Time and memory are reported as 0, because they would include those of the fuzzer, which
        # needs several times as much as the command. The fuzzer limits them itself.
        outcome = Outcome(status, 0, 0, stdout.getvalue(), stderr.getvalue())
        if outcome.faults:
            ending = "\n".join(outcome.stderr.split("\n")[-6:])
            raise MisbehavedError(f"{', '.join(outcome.faults)}: {command}\n{ending}")
        return outcome
