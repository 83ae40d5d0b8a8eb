"""Results of the benchmark, the check whether to report them, and the file that stores them."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks import ROOT
from benchmarks.measure import Run
from benchmarks.rows import GROUPS, ROWS
from benchmarks.sides import Role, Side
from tests.parity.case import Option

_LAYOUT = 2
_ORDER = {name: index for index, name in enumerate(ROWS)}
# Properties of the machine that must be the same for all results of a file.
_MACHINE = ("processor", "cores", "python")


@dataclass(frozen=True)
class Measured:
    """All runs of one side; the smallest value counts."""

    role: Role
    label: str
    version: str
    workers: int
    runs: list[Run]

    @classmethod
    def of(cls, side: Side, runs: Iterable[Run]) -> Measured:
        return cls(side.role, side.label, side.version, side.workers, list(runs))

    @property
    def failure(self) -> str:
        """The message of the first run that failed; empty if all runs succeeded."""
        return next((run.failure for run in self.runs if run.failure), "")

    @property
    def seconds(self) -> float:
        return min(run.seconds for run in self.runs)

    @property
    def mib(self) -> float:
        return min(run.peak_kib for run in self.runs) / 1024

    @property
    def fastest(self) -> Run:
        return min(self.runs, key=lambda run: run.seconds)


@dataclass(frozen=True, eq=False)
class Result:
    """The result of one row; `size` and `sha256` are those of the text."""

    name: str
    title: str
    size: int
    sha256: str
    options: Mapping[str, Option]
    threads: int
    scale: float
    day: str
    machine: Mapping[str, Any]
    sides: list[Measured]

    def having(self, *roles: Role) -> list[Measured]:
        """Return the sides that have one of these roles and did not fail."""
        return [side for side in self.sides if side.role in roles and not side.failure]

    @property
    def ours(self) -> Measured:
        """The side of spmcompat that has as many workers as the reference has threads.

        If the row only measures an import, the side has 0 workers.
        """
        return next(s for s in self.having("ours") if s.workers in (self.threads, 0))

    @property
    def reference(self) -> Measured | None:
        return next(iter(self.having("reference")), None)

    @property
    def others(self) -> list[Measured]:
        return self.having("other")

    @property
    def by_workers(self) -> dict[int, Measured]:
        return {side.workers: side for side in self.having("ours")}

    @property
    def stages(self) -> Measured | None:
        return next(iter(self.having("stages")), None)

    @property
    def model_type(self) -> str:
        return str(self.options["model_type"])

    @property
    def is_compared(self) -> bool:
        """Whether the times can be compared: both sides trained, with equal numbers of runs."""
        row = ROWS.get(self.name)
        alone = row is not None and row.ours_only
        return self.reference is not None and not alone and not self.is_in("start")

    def is_in(self, group: str) -> bool:
        return self.name in GROUPS[group]


def trouble(sides: Iterable[Measured]) -> str:
    """Return why a row has no result; empty if it has a result.

    All runs of our sides and of the reference must have written the same bytes. Other trainers may
    write other bytes, and they may fail.
    """
    exact = [side for side in sides if side.role != "other"]
    for side in exact:
        if side.failure:
            return f"{side.label} failed: {side.failure}"
    digests = {run.sha256 for side in exact for run in side.runs}
    return "" if len(digests) <= 1 else "the bytes differ"


def machine() -> dict[str, Any]:
    """Return the properties of the machine that influence a measurement, and the commit."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "commit": _commit(),
        "load": [round(load, 2) for load in os.getloadavg()],
    }


def today() -> str:
    return date.today().isoformat()


class Store:
    """The file of results; a new result of a row replaces the row's old result.

    Raises
    ------
    SystemExit
        If the file is not a file of results, or its results come from another machine.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results: list[Result] = []
        if path.is_file():
            stored = json.loads(path.read_text())
            if stored.get("layout") != _LAYOUT:
                raise SystemExit(
                    f"{path} does not contain results of this benchmark: move it away."
                )
            self.results = [_from_json(result) for result in stored["results"]]

    def check(self, machine: Mapping[str, Any], threads: int, scale: float) -> None:
        """Refuse to mix results of different machines, numbers of threads, or scales."""
        for result in self.results:
            same = all(result.machine[name] == machine[name] for name in _MACHINE)
            if not same or (result.threads, result.scale) != (threads, scale):
                raise SystemExit(
                    f"{self.path} was measured on another machine, with another number of threads "
                    "or at another scale. Give another folder with --results, or move it away."
                )

    def add(self, result: Result) -> None:
        """Add a result, and write the file at once."""
        self.drop(result.name)
        self.results.append(result)
        self.results.sort(key=lambda kept: _ORDER.get(kept.name, len(_ORDER)))
        self.save()

    def drop(self, name: str) -> None:
        """Remove the result of a row."""
        self.results = [kept for kept in self.results if kept.name != name]

    def save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        stored = {"layout": _LAYOUT, "results": [_to_json(result) for result in self.results]}
        self.path.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n")


def _to_json(result: Result) -> dict[str, Any]:
    stored = asdict(replace(result, sides=[]))
    stored["sides"] = [
        {**asdict(replace(side, runs=[])), "runs": [run.to_json() for run in side.runs]}
        for side in result.sides
    ]
    return stored


def _from_json(stored: dict[str, Any]) -> Result:
    sides = [
        Measured(**{**side, "runs": [Run.from_json(run) for run in side["runs"]]})
        for side in stored["sides"]
    ]
    return Result(**{**stored, "sides": sides})


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def _commit() -> str:
    """Return the commit of the checkout, with a suffix if the package has uncommitted changes."""
    changed = _git("status", "--porcelain", "--", "spmcompat", "setup.py")
    return _git("rev-parse", "--short", "HEAD") + ("-changed" if changed else "")


def _git(*arguments: str) -> str:
    """Return the output of git; empty if git or the repository does not exist."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip()
