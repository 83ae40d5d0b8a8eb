"""Train repeatedly: in each training run, another allocation fails.

This program runs in a separate process, with failing_allocator.cpp preloaded. Each training run is
in a fork, so a crash ends only that run.
"""

import ctypes
import io
import json
import os
import sys
import traceback
from typing import TypedDict

from spmcompat.bpe import trainer as bpe_trainer  # noqa: F401  (imported before any fork)
from spmcompat.cli import train
from spmcompat.simple import char, word  # noqa: F401
from spmcompat.unigram import trainer as unigram_trainer  # noqa: F401

NEVER = 2**63 - 1


class Outcome(TypedDict):
    """The outcome of one training run: its exit status, and its lines on standard error."""

    first: int
    last: int
    status: int
    lines: list[str]


def fail_allocations(first: int, last: int) -> None:
    """Number the allocations from now on. Those with the numbers `first` to `last` - 1 fail."""
    ctypes.CDLL(None).fail_allocations(ctypes.c_int64(first), ctypes.c_int64(last))


def first_calls() -> list[int]:
    """For each call stack that allocated memory, return the index of its first allocation."""
    allocator = ctypes.CDLL(None)
    allocator.get_first_call.restype = ctypes.c_int64
    return [int(allocator.get_first_call(site)) for site in range(allocator.get_site_count())]


def train_once(arguments: list[str], first: int, last: int) -> Outcome:
    """Train in a fork, where the allocations with the numbers `first` to `last` - 1 fail."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        os._exit(_train_in_child(arguments, first, last, write_end))
    os.close(write_end)
    with open(read_end, encoding="utf-8") as pipe:
        lines = pipe.read().splitlines()
    _, wait_status = os.waitpid(child, 0)
    return Outcome(
        first=first, last=last, status=os.waitstatus_to_exitcode(wait_status), lines=lines
    )


def _train_in_child(arguments: list[str], first: int, last: int, write_end: int) -> int:
    os.dup2(write_end, 2)
    stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), "utf-8", write_through=True)
    sys.stderr = stderr
    ctypes.CDLL(None).record_sites(first == NEVER)
    fail_allocations(first, last)
    try:
        status = train.main(arguments, stderr=stderr)
    except BaseException:
        traceback.print_exc()
        status = 70
    ctypes.CDLL(None).record_sites(False)
    fail_allocations(NEVER, NEVER)
    if first == NEVER:
        stderr.write(f"{json.dumps(first_calls())}\n")
    return status


def failing_ranges(calls: list[int], runs: int) -> list[tuple[int, int]]:
    """Return, for each run, the first allocation that fails and the first that succeeds again.

    The first failures are spread over `calls`. In half of the runs, only one allocation fails. In
    the other half, all later allocations fail, too: the second number is NEVER.
    """
    runs = min(runs, len(calls))
    chosen = [calls[len(calls) * run // runs] for run in range(runs)]
    return [(first, NEVER if run % 2 else first + 1) for run, first in enumerate(chosen)]


def main() -> None:
    """Read [prefix, arguments, runs] as JSON, and write the outcome of every run."""
    prefix, arguments, runs = json.loads(sys.argv[1])
    outcomes = [train_once([*arguments, f"--model_prefix={prefix}-whole"], NEVER, NEVER)]
    if outcomes[0]["status"] == 0:
        calls = json.loads(outcomes[0]["lines"].pop())
        for run, (first, last) in enumerate(failing_ranges(calls, runs)):
            outcomes.append(train_once([*arguments, f"--model_prefix={prefix}-{run}"], first, last))
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main()
