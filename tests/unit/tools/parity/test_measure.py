"""A command in its own process: its time, its memory, and its end after Ctrl-C."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from spmcompat.tools.parity.measure import run


def test_time_memory_and_exit_code_are_measured(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "print('said'); raise SystemExit(3)"]
    process = run(command, tmp_path)
    assert (process.exit_code, process.log, process.failure) == (3, "said\n", "said")
    assert min(process.seconds, process.cpu_seconds) > 0
    assert process.peak_kib > 1000


def test_ctrl_c_kills_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []

    def interrupted(process: subprocess.Popen[bytes]) -> NoReturn:
        started.append(process.pid)
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run([sys.executable, "-c", "import time; time.sleep(600)"], tmp_path)
    with pytest.raises(ProcessLookupError):
        os.kill(started[0], 0)


def test_ctrl_c_is_handled_when_the_command_has_just_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(process: subprocess.Popen[bytes]) -> NoReturn:
        process.wait()
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run([sys.executable, "-c", ""], tmp_path)
