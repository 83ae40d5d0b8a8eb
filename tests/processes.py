"""Processes that tests start with the package under test, to interrupt them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import spmcompat


def start_python(
    arguments: list[str],
    folder: Path,
    *,
    stdin: int | None = None,
    stdout: int | None = None,
    stderr: int | None = None,
) -> subprocess.Popen[bytes]:
    """Start Python in a folder; it imports the same spmcompat as the test, installed or not."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(spmcompat.__file__).parents[1])},
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
    )


def read_until(stream: IO[bytes] | None, mark: bytes) -> bytes:
    """Read lines until one contains the mark, and return them all."""
    assert stream is not None
    seen = b""
    for line in stream:
        seen += line
        if mark in line:
            break
    return seen
