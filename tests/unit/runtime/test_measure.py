"""A command in its own process: its time, its memory, and its end after Ctrl-C."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from spmcompat.runtime.measure import run
from tests.kinds import raises_kind
from tests.waiting import wait_until


def test_time_memory_and_exit_code_are_measured(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "print('said'); raise SystemExit(3)"]
    process = run(command, tmp_path)
    assert (process.exit_code, process.log, process.failure) == (3, "said\n", "said")
    assert min(process.seconds, process.cpu_seconds) > 0
    assert process.peak_kib > 1000


def test_windows_cannot_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with raises_kind("unsupported-platform Windows WSL"):
        run([sys.executable, "-c", ""], tmp_path)


@pytest.mark.parametrize("number", [signal.SIGABRT, signal.SIGKILL, signal.SIGSEGV])
@pytest.mark.parametrize("said", ["", "what(): std::bad_alloc"])
def test_a_signal_that_ended_the_command_is_named(
    number: signal.Signals, said: str, tmp_path: Path
) -> None:
    code = f"import os; print({said!r}, flush=True); os.kill(os.getpid(), {int(number)})"
    failure = run([sys.executable, "-c", code], tmp_path).failure
    assert f"signal {int(number)} " in failure
    assert failure.endswith(said or ")")
    assert "\n" not in failure


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


def test_after_ctrl_c_the_command_can_remove_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = """
import pathlib, signal, sys, time
temporary = pathlib.Path("temporary")
def remove(*_):
    time.sleep(0.3)
    temporary.unlink()
    sys.exit()
signal.signal(signal.SIGTERM, remove)
temporary.touch()
time.sleep(600)
"""

    def interrupted(_: object) -> NoReturn:
        wait_until((tmp_path / "temporary").exists, "the command has created its file")
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run([sys.executable, "-c", code], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_is_handled_when_the_command_has_just_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(process: subprocess.Popen[bytes]) -> NoReturn:
        process.wait()
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run([sys.executable, "-c", ""], tmp_path)
