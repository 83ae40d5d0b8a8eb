"""Input files: a file that becomes shorter while it is read, or that never ends, is an error."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

from spmcompat.runtime.inputs import open_file
from tests.kinds import raises_kind

SIZE = 100_000
LINES = b"abc\n" * (SIZE // 4)


def read_parts(file: BinaryIO) -> bytes:
    return b"".join(iter(lambda: file.read(1000), b""))


def read_into(file: BinaryIO) -> bytes:
    buffer, found = bytearray(1000), b""
    while size := file.readinto(buffer):  # type: ignore[attr-defined]
        found += buffer[:size]
    return found


def read_lines(file: BinaryIO) -> bytes:
    return b"".join(file)


def read_whole(file: BinaryIO) -> bytes:
    return file.read()


READERS = [read_parts, read_into, read_lines, read_whole]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("left", [0, 50_000, SIZE - 1])
def test_a_file_that_becomes_shorter(
    read: Callable[[BinaryIO], bytes], left: int, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(LINES)
    with open_file(path, "Check it") as file:
        file.readline()
        os.truncate(path, left)
        with raises_kind("file-changed a.txt"):
            read(file)


@pytest.mark.parametrize("read", READERS)
def test_a_file_that_stays_or_grows(read: Callable[[BinaryIO], bytes], tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(LINES)
    with open_file(path, "Check it") as file:
        assert read(file) == LINES
    with open_file(path, "Check it") as file, open(path, "ab") as other:
        begin = file.read(10)
        other.write(b"more\n")
        other.flush()
        assert begin + read(file) == LINES + b"more\n"


def test_files_without_a_size(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    for path in (tmp_path / "empty", os.devnull):
        with open_file(path, "Check it") as file:
            assert file.read() == b""
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(LINES,))
    writer.start()
    with open_file(tmp_path / "pipe", "Check it") as file:
        assert file.read() == LINES
    writer.join()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/full"])
def test_an_endless_device(device: str, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(device)
    for path in (device, link):
        with raises_kind(f"cannot-read {path}"), open_file(path, "Check it") as file:
            file.read(1)


def test_errors_name_the_file(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for path in (loop, tmp_path, tmp_path / "missing", f"{tmp_path}/a\0b"):
        kind = "impossible-path" if "\0" in str(path) else "cannot-read"
        with raises_kind(kind), open_file(path, "Check it") as file:
            file.read()
    (tmp_path / "large").touch()
    with (
        raises_kind("out-of-memory"),
        open_file(tmp_path / "large", "Check it"),
    ):
        raise MemoryError
