"""One process: what it cost, and what it wrote."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import ROOT
from benchmarks.corpora import digest
from benchmarks.sides import Side
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
        exit_code, log, cost = _run(side.command(named), side.environment, folder)
        if exit_code != 0:
            last = log.strip().rpartition("\n")[2]
            return replace(cost, failure=last or f"exit code {exit_code}")
        outputs = [folder / f"{_PREFIX}{end}" for end in (".model", ".vocab")]
        digests = tuple(digest(path) for path in outputs if path.is_file())
        told = folder / _STEPS
        steps = json.loads(told.read_text()) if told.is_file() else []
        return replace(cost, sha256=digests, steps=tuple(Step(**step) for step in steps))


def _run(
    arguments: Sequence[str], environment: Mapping[str, str], folder: Path
) -> tuple[int, str, Run]:
    """Return the exit code of a process, what it told, and what it cost."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(ROOT / "benchmarks" / "once.py"), *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        told, log = process.communicate()
    except BaseException:
        # The reference does not listen to Ctrl-C.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    exit_code, *cost = json.loads(told)
    return exit_code, log.decode(errors="replace"), Run(*cost)
