"""Trains with spmcompat and writes the CPU time of every task of the workers to ``tasks.json``.

`benchmarks.scaling` runs this script. To run it by hand:
``python benchmarks/task_times.py "--input=a.txt --model_prefix=m --workers=2"``
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from pathlib import Path
from typing import Any

# These times are taken before the imports below, because the first step includes the imports.
BEGUN = time.perf_counter(), time.thread_time()

from spmcompat import training  # noqa: E402
from spmcompat.options.from_keywords import from_string  # noqa: E402
from spmcompat.options.job import make_job  # noqa: E402
from spmcompat.runtime.progress import Report  # noqa: E402
from spmcompat.runtime.workers import Workers  # noqa: E402

STEPS: list[dict[str, Any]] = []


def begin_step(name: str, begun: tuple[float, float] | None = None) -> None:
    """Begin to record a step: its wall time, the main thread's CPU time, and calls of workers."""
    now = begun or (time.perf_counter(), time.thread_time())
    if STEPS:
        STEPS[-1]["seconds"] += now[0]
        STEPS[-1]["main"] += now[1]
    STEPS.append({"name": name, "seconds": -now[0], "main": -now[1], "calls": []})


class Stopwatch(Report):
    """A report that begins to record a new step whenever training begins a step."""

    def step(self, name: str) -> None:
        super().step(name)
        begin_step(name)


class TimedWorkers(Workers):
    """Workers that record, for each call, the CPU times of the tasks and of handing them out.

    The time of handing out is the time spent in the iterator over the tasks. Only one thread can
    use the iterator at a time.
    """

    def run(self, tasks: Iterable[Any], do: Callable[[int, Any], None]) -> None:
        call = _Call(do)
        numbered = call.numbered(tasks)
        super().run([*numbered] if isinstance(tasks, Sized) else numbered, call.do)
        call.store(in_main=False)

    def feed(self, tasks: Iterable[Any], do: Callable[[int, Any], None]) -> None:
        call = _Call(do)
        super().feed(call.numbered(tasks), call.do)
        call.store(in_main=True)


class _Call:
    """One call of the workers."""

    def __init__(self, do: Callable[[int, Any], None]) -> None:
        self._do = do
        self._tasks: dict[int, float] = {}
        self._handing = 0.0

    def numbered(self, tasks: Iterable[Any]) -> Iterator[tuple[int, Any]]:
        """Yield each task with its number, and time how long the iterator takes."""
        begun = time.thread_time()
        for numbered in enumerate(tasks):
            self._handing += time.thread_time() - begun
            yield numbered
            begun = time.thread_time()
        self._handing += time.thread_time() - begun

    def do(self, worker: int, numbered: tuple[int, Any]) -> None:
        begun = time.thread_time()
        self._do(worker, numbered[1])
        self._tasks[numbered[0]] = time.thread_time() - begun

    def store(self, in_main: bool) -> None:
        """Add the call to the current step.

        If the main thread handed out the tasks (`in_main`), the time of handing out is subtracted
        from the time of the main thread, because the call records it separately.
        """
        tasks = [self._tasks[number] for number in sorted(self._tasks)]
        STEPS[-1]["calls"].append({"tasks": tasks, "handing": self._handing})
        if in_main:
            STEPS[-1]["main"] -= self._handing


def main() -> None:
    begin_step("Starting", BEGUN)
    training.Workers = TimedWorkers  # type: ignore[misc]
    training.run(make_job(from_string(sys.argv[1])), Stopwatch(2, sys.stderr))
    begin_step("Ending")
    Path("tasks.json").write_text(json.dumps(STEPS[:-1]))


if __name__ == "__main__":
    main()
