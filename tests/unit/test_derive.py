"""The scripts in ``derive/``: what they write is current, and how they write and compare.

The scripts that take long are tested in ``splitting/``.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from derive import categories, charsmaps, options, plan
from derive.files import MissingSourceError, require, write_or_check

from .derived import assert_current


@pytest.mark.parametrize("script", [categories, charsmaps, options, plan])
def test_derived_files_are_current(script: ModuleType) -> None:
    assert_current(script)


def test_files_are_written_or_compared(tmp_path: Path) -> None:
    def run(*arguments: str) -> int:
        derived = {"a": b"1\n", "b": b"2\n"}
        return write_or_check(lambda: derived, arguments=arguments, root=tmp_path)

    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"1\n")
    assert run("--check") == 1
    assert (tmp_path / "b").read_bytes() == b"1\n"
    assert run() == 0
    assert [(tmp_path / name).read_bytes() for name in ("a", "b")] == [b"1\n", b"2\n"]
    assert run("--check") == 0


def test_another_version_of_a_library_is_refused(tmp_path: Path) -> None:
    def derived() -> dict[str, bytes]:
        require("pytest", "0.0.1")
        return {"a": b""}

    with pytest.raises(MissingSourceError):
        require("no-such-library", "1")
    with pytest.raises(SystemExit):
        write_or_check(derived, arguments=[], root=tmp_path)
    assert not any(tmp_path.iterdir())
