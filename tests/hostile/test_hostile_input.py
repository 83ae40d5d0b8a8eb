"""Every command ends properly, even if the files that it reads are damaged."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.hostile.kinds import KINDS
from tests.searches import LONG

CASES = 60 if LONG else 15


@pytest.mark.parametrize("kind", KINDS)
def test_commands_end_in_order_on_damaged_input(kind: str) -> None:
    # A separate process: a fork of this one would inherit its threads.
    command = [sys.executable, "-m", "tests.hostile", kind, f"--cases={CASES}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
