"""Tests of the fuzzing targets, without the fuzzer."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.fuzz.choices import Choices
from tests.fuzz.running import MisbehavedError, Runner
from tests.fuzz.targets import FILES, TARGETS
from tests.hostile.kinds import KINDS


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "")  # a target changes it; pytest restores it


@pytest.mark.parametrize("name", FILES)
def test_each_command_reads_valid_files_and_handles_any_bytes(name: str, tmp_path: Path) -> None:
    runner = Runner(FILES[name], tmp_path)
    statuses = defaultdict(set)
    for seed in runner.seeds:
        statuses[seed[0]].add(runner.run(seed).status)
    # `compare` reads each configuration, but then fails because its text is too short.
    expected = 1 if name == "configuration" else 0
    assert [*statuses] == [*range(len(FILES[name].commands))]
    assert all(expected in found for found in statuses.values()), statuses
    for data in (b"", b"\0", b"\xff" * 100, b'\x01{["\0\xed\xa0\x80', b"\x02" + b"\t\n" * 50):
        runner.run(data)


def test_each_kind_of_hostile_input_is_a_target(tmp_path: Path) -> None:
    assert {*TARGETS} == {*FILES, *KINDS}
    runner = Runner(TARGETS["arrow"], tmp_path)
    assert len({runner.run(seed).stderr for seed in runner.seeds}) > 5


def test_bytes_decide_the_choices() -> None:
    data = bytes(range(1, 40))
    assert Choices(data).choices(range(1000), k=5) == Choices(data).choices(range(1000), k=5)
    assert Choices(b"\x05").getrandbits(8) == 5
    assert Choices(b"\xff\xff").random() < 1
    assert {Choices(bytes([byte])).randrange(4) for byte in range(256)} == {0, 1, 2, 3}
    # After the end of the bytes, choices still vary: some generators repeat a choice until they get
    # another value.
    assert len({*Choices(b"").sample(range(10_000), 20)}) == 20


class Planted:
    """A target that succeeds, fails or raises an exception, depending on its input."""

    def prepare(self, folder: Path) -> Sequence[bytes]:
        (folder / "valid").touch()
        return [b"fine"]

    def command(self, data: bytes, valid: Path, folder: Path) -> Callable[[], int]:
        assert (valid / "valid").exists()
        assert [*folder.iterdir()] == []
        (folder / "written").touch()
        return lambda: self._run(data)

    def _run(self, data: bytes) -> int:
        if data == b"raises":
            raise ValueError("planted")
        sys.stderr.write(data.decode())
        return int(data != b"fine")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no message"),
        (b"spmcompat: a\nspmcompat: b\n", "2 lines of errors"),
        (b"spmcompat: \x1b[2J\n", "unprintable characters"),
        (b"Traceback (most recent call last):\n", "a traceback"),
    ],
)
def test_misbehaviour_is_a_finding(tmp_path: Path, data: bytes, message: str) -> None:
    runner = Runner(Planted(), tmp_path)
    assert runner.seeds == [b"fine"]
    with pytest.raises(MisbehavedError, match=message):
        runner.run(data)
    with pytest.raises(ValueError, match="planted"):
        runner.run(b"raises")
    assert runner.run(b"fine").status == 0
    assert runner.run(b"spmcompat: one line\n").status == 1
