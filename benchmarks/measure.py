"""One side of one run in a fresh process, and what the machine is."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.parity.case import Option

OURS = "tests.parity.ours"
REFERENCE = "tests.parity.reference"
ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Run:
    """Cost and digests of one training.

    `wall` is that of the whole process, start and imports included; `seconds` that of the call;
    `peak_kib` is ``ru_maxrss``.
    """

    wall: float
    seconds: float
    cpu_seconds: float
    peak_kib: int
    sha256: tuple[str, ...]
    failure: str = ""


def train(side: str, text: Path, options: Mapping[str, Option], workers: int = 0) -> Run:
    """Train one side on a file, under the name ``text.txt`` in a fresh folder."""
    named = {"input": "text.txt", "model_prefix": "m", **options}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "text.txt").symlink_to(text.resolve())
        command = [sys.executable, "-m", "benchmarks.once", side, json.dumps(named), str(workers)]
        started = time.perf_counter()
        done = subprocess.run(
            command, cwd=folder, env=_environment(), capture_output=True, text=True, check=False
        )
        wall = time.perf_counter() - started
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return Run(wall, 0.0, 0.0, 0, (), failure=last)
    told = json.loads(done.stdout.strip().splitlines()[-1])
    return Run(wall, told["seconds"], told["cpu_seconds"], told["peak_kib"], tuple(told["sha256"]))


def _environment() -> dict[str, str]:
    paths = [os.environ.get("PYTHONPATH", ""), str(ROOT)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}


def machine() -> dict[str, object]:
    """Return what a figure depends on."""
    return {
        "spmcompat": version("spmcompat"),
        "sentencepiece": version("sentencepiece"),
        "python": platform.python_version(),
        "system": platform.platform(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "load": [round(load, 2) for load in os.getloadavg()],
    }


def version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()
