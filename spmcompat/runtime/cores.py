"""How many threads may run at the same time."""

import os

MOST_WORKERS = 1024
"""The largest number of workers. It is limited because each worker needs memory."""


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_cores() -> int:
    """Return the number of cores that this process may use, at most `MOST_WORKERS`."""
    return min(cores(), MOST_WORKERS)
