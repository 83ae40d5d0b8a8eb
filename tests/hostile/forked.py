"""Runs one command in a forked process, under limits, and checks how it ended."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

SECONDS = 30
HANG_SECONDS = 600
BYTES = 1 << 30
FAILURE = 1
STATUSES = (0, FAILURE, 2)


class Outcome(NamedTuple):
    """How a command ended.

    Attributes
    ----------
    status : int
        Its exit status, or the negative number of the signal that ended it.
    seconds : float
        Its processor time, which does not depend on the load of the machine.
    peak : int
        Its peak memory in bytes.
    stdout, stderr : str
        Its output.
    """

    status: int
    seconds: float
    peak: int
    stdout: str
    stderr: str

    @property
    def faults(self) -> list[str]:
        """The ways in which the command misbehaved."""
        printed = self.stdout + self.stderr
        checks = {
            f"exit status {self.status}": self.status not in STATUSES,
            "a traceback": "Traceback (most recent call last)" in self.stderr,
            f"{self.error_lines} lines of errors": self.error_lines > 1,
            "no message": self.status == FAILURE and not printed,
            f"{self.seconds:.0f} seconds": self.seconds > SECONDS,
            f"{self.peak >> 20} MiB": self.peak > BYTES,
            "unprintable characters": any(not (c.isprintable() or c in "\n\t\r") for c in printed),
        }
        return [name for name, found in checks.items() if found]

    @property
    def error_lines(self) -> int:
        """The number of error messages. Other output may be progress or warnings."""
        lines = self.stderr.replace("\r", "\n").split("\n")
        return sum(line.startswith(("spm_train:", "spmcompat")) for line in lines)


def run(command: Callable[[], int], folder: Path) -> Outcome:
    """Run a command in a fork of this process.

    Parameters
    ----------
    command : callable
        Runs the command and returns its exit status. It may write to standard output and error.
    folder : Path
        The working folder of the command; its output is kept there.
    """
    child = os.fork()
    if child == 0:
        _become(command, folder)
    deadline = time.monotonic() + HANG_SECONDS
    while True:
        waited, state, usage = os.wait4(child, os.WNOHANG)
        if waited:
            break
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.002)
    seconds = usage.ru_utime + usage.ru_stime
    stdout, stderr = (
        (folder / name).read_text(encoding="utf-8", errors="replace") for name in ("out", "err")
    )
    status = os.waitstatus_to_exitcode(state)
    return Outcome(status, seconds, usage.ru_maxrss * 1024, stdout, stderr)


def _become(command: Callable[[], int], folder: Path) -> None:
    """Run the command in this process, and end the process with the status of the command."""
    status = 1
    try:
        os.chdir(folder)
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (4 * SECONDS, 4 * SECONDS))
        status = command()
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
