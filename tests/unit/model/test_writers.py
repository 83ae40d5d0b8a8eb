"""Writing a model to an object of the caller."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from spmcompat.model.writers import write_all
from tests.kinds import raises_kind

DATA = bytes(range(256)) * 1000


class Writer:
    """A writer whose method appends to `written`, and returns what a function of the data says."""

    def __init__(self, result: Callable[[bytes], object]) -> None:
        self.result = result
        self.written = b""

    def write(self, data: bytes) -> object:
        result = self.result(data)
        whole = isinstance(result, bool) or not isinstance(result, int)
        self.written += data if whole else data[: max(result, 0)]  # type: ignore[call-overload]
        return result


@pytest.mark.parametrize("part", [1 << 20, 100_000, len(DATA) - 1, 4096])
def test_the_rest_follows_a_short_write(part: int) -> None:
    writer = Writer(lambda data: min(part, len(data)))
    write_all(writer, DATA)
    assert writer.written == DATA


@pytest.mark.parametrize("result", [None, "done", True, 3.5, len(DATA) + 5])
def test_a_result_that_is_not_a_smaller_number_means_everything(result: object) -> None:
    writer = Writer(lambda _: result)
    write_all(writer, DATA)
    assert writer.written == DATA


@pytest.mark.parametrize("result", [0, -1])
def test_a_writer_that_writes_nothing(result: int) -> None:
    with raises_kind("cannot-write"):
        write_all(Writer(lambda _: result), DATA)


def test_an_exception_of_the_writer_is_passed_on() -> None:
    def fail(_: bytes) -> object:
        raise KeyError("full")

    with pytest.raises(KeyError):
        write_all(Writer(fail), DATA)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are different")
def test_a_full_pipe() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with (
        open(reading, "rb"),
        open(writing, "wb", buffering=0) as pipe,
        raises_kind("cannot-write"),
    ):
        write_all(pipe, DATA)


def test_a_file_that_cannot_grow(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with open(tmp_path / "m", "wb", buffering=0) as file:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        try:
            with pytest.raises(OSError, match="too large"):
                write_all(file, DATA)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
