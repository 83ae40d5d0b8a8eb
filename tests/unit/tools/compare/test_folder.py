"""The folder of a report: one run at a time, also where files cannot be locked."""

from __future__ import annotations

import errno
import fcntl
import io
import os
from pathlib import Path

import pytest

from spmcompat.runtime.progress import Report
from spmcompat.tools.compare.folder import ReportFolder
from tests.kinds import raises_kind


def test_a_folder_is_locked_until_the_end_of_the_statement(tmp_path: Path) -> None:
    report = Report(0, io.StringIO())
    one, other = (ReportFolder(tmp_path / "out", []) for _ in range(2))
    with one.lock(report):
        one.claim("train.txt")
        # Claiming a file must not replace the file that is locked.
        with raises_kind("folder-in-use --output"), other.lock(report):
            pass
    with other.lock(report):
        (tmp_path / "out" / "train.txt").write_text("")
        other.claim("train.txt")  # it belongs to the command, although the other object claimed it


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS])
def test_a_file_system_without_locks_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    shown = io.StringIO()
    with ReportFolder(tmp_path, []).lock(Report(0, shown)):
        pass
    (warning,) = shown.getvalue().splitlines()
    assert "WARNING" in warning
    assert str(tmp_path) in warning
    assert os.strerror(number) in warning
