"""Waits for events in tests, instead of waiting for a time that should be long enough."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

LIMIT = 600.0
"""A test fails after this number of seconds. Even an overloaded machine needs far less."""


def wait_until(happened: Callable[[], bool], event: str) -> None:
    """Wait until `happened` returns true. Fail the test if this takes too long."""
    end = time.monotonic() + LIMIT
    while not happened():
        if time.monotonic() > end:
            pytest.fail(f"waited {LIMIT:g} s in vain until {event}")
        time.sleep(0.001)


def wait_for_work(process: int, seconds: float) -> None:
    """Wait until a process has used `seconds` of processor time since the call."""
    end = processor_seconds(process) + seconds
    wait_until(lambda: processor_seconds(process) >= end, f"process {process} worked {seconds:g} s")


def processor_seconds(process: int) -> float:
    """Return the processor time that all threads of a process have used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    user, system = fields[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
