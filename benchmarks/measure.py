"""One process: what it cost, and what it wrote."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.corpora import digest
from benchmarks.sides import Side
from spmcompat.tools.parity.measure import run
from tests.parity.case import Option

_INPUT, _PREFIX, _STEPS = "text.txt", "m", "steps.json"


@dataclass(frozen=True)
class Step:
    """A stage of ours; `peak_kib` is that of the process up to its end."""

    name: str
    seconds: float
    cpu_seconds: float
    peak_kib: int


@dataclass(frozen=True)
class Run:
    """Cost of a whole process, start and imports included, and digests of what it trained.

    `seconds` is wall time, `peak_kib` the largest resident set. `steps` is empty unless the side
    tells its stages.
    """

    seconds: float
    cpu_seconds: float
    peak_kib: int
    sha256: tuple[str, ...] = ()
    failure: str = ""
    steps: tuple[Step, ...] = ()

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Run:
        """Return what `to_json` was called on."""
        steps = tuple(Step(**step) for step in told.get("steps", ()))
        return cls(**{**told, "sha256": tuple(told.get("sha256", ())), "steps": steps})

    def to_json(self) -> dict[str, object]:
        """Return the fields that hold something."""
        return {name: value for name, value in asdict(self).items() if value not in ((), "")}


def train(side: Side, text: Path | None, options: Mapping[str, Option]) -> Run:
    """Train one side on a file, under the name ``text.txt`` in a fresh folder."""
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
        told = folder / _STEPS
        steps = json.loads(told.read_text()) if told.is_file() else []
        return replace(cost, sha256=digests, steps=tuple(Step(**step) for step in steps))
