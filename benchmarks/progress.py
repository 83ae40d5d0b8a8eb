"""Progress of a benchmark on standard error: one line for each run."""

from __future__ import annotations

import sys


class Progress:
    """Counts the runs and prints each one when it starts and when it ends."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0

    def begin(self, name: str) -> None:
        self.done += 1
        self._write(f"[{self.done}/{self.total}] {name} ... ", end="")

    def end(self, outcome: str) -> None:
        self._write(outcome)

    def skip(self, count: int) -> None:
        """Lower the total by the number of runs that will not take place."""
        self.total -= count

    @staticmethod
    def _write(text: str, end: str = "\n") -> None:
        print(text, end=end, file=sys.stderr, flush=True)
