"""Starts Python processes that use the package under test, so that tests can interrupt them."""

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
    """Start Python in a folder. It imports the same spmcompat as the test does."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(spmcompat.__file__).parents[1])},
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
    )


def read_until(stream: IO[bytes] | None, mark: bytes) -> bytes:
    """Read lines until one of them contains the mark, and return all of these lines."""
    assert stream is not None
    seen = b""
    for line in stream:
        seen += line
        if mark in line:
            break
    return seen
