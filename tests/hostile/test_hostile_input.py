"""Every command ends without a crash or a traceback, even if it reads damaged files."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.hostile.kinds import KINDS
from tests.searches import LONG

CASES = 60 if LONG else 10


@pytest.mark.parametrize("kind", KINDS)
def test_commands_end_in_order_on_damaged_input(kind: str) -> None:
    # The cases fork, but this process may have threads. So the cases run in a separate process.
    command = [sys.executable, "-m", "tests.hostile", kind, f"--cases={CASES}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
