"""Either all files are written or none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import spmcompat
from spmcompat.errors import MissingFileError
from spmcompat.model.writers import write_together


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_all_files_are_written(tmp_path: Path) -> None:
    old = tmp_path / "m.model"
    old.write_bytes(b"old")
    write_together({str(old): b"new", str(tmp_path / "m.vocab"): b"v"})
    assert old.read_bytes() == b"new"
    assert _names(tmp_path) == ["m.model", "m.vocab"]


def test_the_mode_follows_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_together({str(tmp_path / "m.model"): b""})
    finally:
        os.umask(before)
    assert (tmp_path / "m.model").stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "m.model").symlink_to(tmp_path / "real" / "x")
    write_together({str(tmp_path / "m.model"): b"new"})
    assert (tmp_path / "m.model").is_symlink()
    assert (tmp_path / "real" / "x").read_bytes() == b"new"


def test_a_full_device_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "m.vocab").symlink_to("/dev/full")
    with pytest.raises(MissingFileError, match="No space left on device"):
        write_together({str(tmp_path / "m.model"): b"m", str(tmp_path / "m.vocab"): b"v"})
    assert _names(tmp_path) == ["m.vocab"]


def test_a_file_size_limit_leaves_no_file(tmp_path: Path) -> None:
    program = """
import resource, signal, sys
from spmcompat.model.writers import write_together
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
write_together({sys.argv[1] + ".model": b"m" * 900, sys.argv[1] + ".vocab": b"v" * 2000})
"""
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "m")],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(spmcompat.__file__).parents[1],  # the package under test, installed or not
    )
    assert "MissingFileError" in run.stderr
    assert 'm.vocab": File too large' in run.stderr
    assert _names(tmp_path) == []


@pytest.mark.parametrize("failing", [1, 2])
def test_an_interrupt_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    rename = os.replace
    calls = []

    def replace(source: str, target: str) -> None:
        calls.append(target)
        if len(calls) == failing:
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(KeyboardInterrupt):
        write_together({str(tmp_path / "m.model"): b"m", str(tmp_path / "m.vocab"): b"v"})
    assert _names(tmp_path) == []


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="No such file or directory") as caught:
        write_together({str(tmp_path / "nowhere" / "m.model"): b"m"})
    assert isinstance(caught.value, OSError)


def test_a_target_with_the_longest_possible_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The temporary name is not longer, even if it ends within a character."""
    monkeypatch.chdir(tmp_path)
    for name in ("x" * 255, "x" + "あ" * 84 + "yy"):
        assert len(name.encode()) == 255
        write_together({name: b"abc"})
        assert Path(name).read_bytes() == b"abc"
    assert len(list(tmp_path.iterdir())) == 2
