"""Runs a command in its own process, and measures its time and memory."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from spmcompat.errors import UnsupportedError

ONCE = Path(__file__).with_name("once.py")
_PATIENCE = 5  # seconds that an interrupted command gets to end by itself


class Process(NamedTuple):
    """A process that has ended.

    Attributes
    ----------
    exit_code : int
        The exit code. If a signal ended the process, it is the negative number of the signal.
    log : str
        Its standard output and standard error.
    seconds, cpu_seconds : float
        Wall time, and CPU time of all threads. Both include the start of the process.
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
        """Why the process failed: the last line of its log, or its exit code; "" after success.

        If a signal ended the process, it is named, too, because the last line may not be about it.
        """
        last = self.log.strip().rpartition("\n")[2]
        if self.exit_code < 0:
            ended = f"ended by signal {-self.exit_code} ({signal.strsignal(-self.exit_code)})"
            return f"{ended}; its last line: {last}" if last else ended
        return "" if self.exit_code == 0 else last or f"exit code {self.exit_code}"


def run(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] = MappingProxyType({})
) -> Process:
    """Run a command in a folder, with empty standard input, and wait until the command ends.

    Parameters
    ----------
    command : sequence of str
        The path of a program, and its arguments.
    folder : Path
        Its working directory.
    environment : mapping of str to str
        Environment variables to add to those of this process.

    Raises
    ------
    TrainingError
        On Windows.
    """
    if sys.platform == "win32":
        raise UnsupportedError("Windows cannot measure processes as this command does. Use WSL.")
    with subprocess.Popen(
        [sys.executable, "-I", "-S", str(ONCE), *command],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            cost, log = process.communicate()
        except BaseException:
            _end(process)
            raise
    exit_code, seconds, cpu_seconds, peak_kib = json.loads(cost)
    return Process(exit_code, log.decode(errors="replace"), seconds, cpu_seconds, peak_kib)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command and its own processes, after giving it time to remove its temporary files."""
    if sys.platform != "win32":
        try:
            _signal_group(process, signal.SIGTERM)  # the reference ignores Ctrl-C
            with suppress(subprocess.TimeoutExpired):
                process.wait(_PATIENCE)
        finally:
            _signal_group(process, signal.SIGKILL)
            process.wait()


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    # If all processes have ended, their process group no longer exists.
    if sys.platform != "win32":
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
