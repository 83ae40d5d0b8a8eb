"""Measures one process: its time and memory, and digests of the files that it wrote."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.corpora import digest
from benchmarks.sides import Side
from spmcompat.runtime.measure import run
from tests.parity.case import Option

_INPUT, _PREFIX, _STEPS = "text.txt", "m", "steps.json"


@dataclass(frozen=True)
class Step:
    """A stage of our trainer; `peak_kib` is the peak memory of the process when the stage ended."""

    name: str
    seconds: float
    cpu_seconds: float
    peak_kib: int


@dataclass(frozen=True)
class Run:
    """Cost of a whole process, including its start and its imports, and digests of its output.

    `seconds` is wall time, `cpu_seconds` the time of all threads, and `peak_kib` the largest
    resident set. `steps` is empty unless the trainer times its stages.
    """

    seconds: float
    cpu_seconds: float
    peak_kib: int
    sha256: tuple[str, ...] = ()
    failure: str = ""
    steps: tuple[Step, ...] = ()

    @property
    def summary(self) -> str:
        """The failure, or time and memory, in one line."""
        return self.failure or f"{self.seconds:.2f} s, {self.peak_kib / 1024:,.0f} MiB"

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Run:
        """Return the run that `to_json` converted to this JSON object."""
        steps = tuple(Step(**step) for step in stored.get("steps", ()))
        return cls(**{**stored, "sha256": tuple(stored.get("sha256", ())), "steps": steps})

    def to_json(self) -> dict[str, object]:
        """Return the fields that are not empty."""
        return {name: value for name, value in asdict(self).items() if value not in ((), "")}


def train(side: Side, text: Path | None, options: Mapping[str, Option]) -> Run:
    """Run one trainer on a file, in a new folder where the file is called ``text.txt``."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if text is not None:
            (folder / _INPUT).symlink_to(text.resolve())
        named = {"input": _INPUT, "model_prefix": _PREFIX, **options}
        done = run(side.command(named), folder, side.environment)
        cost = Run(done.seconds, done.cpu_seconds, done.peak_kib, failure=done.failure)
        if done.failure:
            return cost
        outputs = [folder / f"{_PREFIX}{end}" for end in (".model", ".vocab")]
        digests = tuple(digest(path) for path in outputs if path.is_file())
        timed = folder / _STEPS
        steps = json.loads(timed.read_text()) if timed.is_file() else []
        return replace(cost, sha256=digests, steps=tuple(Step(**step) for step in steps))
