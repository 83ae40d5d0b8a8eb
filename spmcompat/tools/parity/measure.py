"""Runs a command as a process of its own and tells what it cost."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

ONCE = Path(__file__).with_name("once.py")


class Process(NamedTuple):
    """A process that has ended.

    Attributes
    ----------
    exit_code : int
        Below 0 for the number of the signal that ended it.
    log : str
        All that it told.
    seconds, cpu_seconds : float
        Wall time, and time of all its threads; its start is part of both.
    peak_kib : int
        Largest resident set, in KiB.
    """

    exit_code: int
    log: str
    seconds: float
    cpu_seconds: float
    peak_kib: int

    @property
    def failure(self) -> str:
        """Why it failed: its last line, or how it ended; empty if it did not fail."""
        last = self.log.strip().rpartition("\n")[2]
        if self.exit_code == 0:
            return ""
        return last if last and self.exit_code > 0 else f"exit code {self.exit_code}"


def run(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] = MappingProxyType({})
) -> Process:
    """Run a command in a folder, without any input, and wait for its end.

    Parameters
    ----------
    command : sequence of str
        The path of a program, and its arguments.
    folder : Path
        Where it runs.
    environment : mapping of str to str
        Variables to set beside those of this process.
    """
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(ONCE), *command],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        told, log = process.communicate()
    except BaseException:
        # The reference does not listen to Ctrl-C.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    exit_code, seconds, cpu_seconds, peak_kib = json.loads(told)
    return Process(exit_code, log.decode(errors="replace"), seconds, cpu_seconds, peak_kib)
