"""Trains with spmcompat and writes the time of every step to ``steps.json``.

The benchmark runs this script as one of its sides. To run it by hand:
``python benchmarks/stages.py "--input=a.txt --model_prefix=m --workers=2"``
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

# These times are taken before the imports below, which belong to the first step.
BEGUN = time.perf_counter(), time.process_time()

from spmcompat.options.from_keywords import from_string  # noqa: E402
from spmcompat.options.job import make_job  # noqa: E402
from spmcompat.runtime.progress import Report  # noqa: E402
from spmcompat.training import run  # noqa: E402


class Stopwatch(Report):
    """A report that measures each step. It adds up the times of steps with the same name."""

    def __init__(self) -> None:
        super().__init__(0, sys.stderr)
        self.steps: dict[str, dict[str, float]] = {}
        self._name = "Starting"
        self._begun = BEGUN

    def step(self, name: str) -> None:
        """End the current step and begin another."""
        super().step(name)
        now = time.perf_counter(), time.process_time()
        step = self.steps.setdefault(self._name, {"seconds": 0.0, "cpu_seconds": 0.0})
        step["seconds"] += now[0] - self._begun[0]
        step["cpu_seconds"] += now[1] - self._begun[1]
        step["peak_kib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self._name, self._begun = name, now


def main() -> None:
    watch = Stopwatch()
    run(make_job(from_string(sys.argv[1])), watch)
    watch.step("Ending")
    steps = [{"name": name, **cost} for name, cost in watch.steps.items()]
    Path("steps.json").write_text(json.dumps(steps))


if __name__ == "__main__":
    main()
