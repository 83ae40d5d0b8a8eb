"""Trains one side once and prints, as one line of JSON, what it cost and what it wrote.

It runs as a process of its own, so that time and memory are those of a fresh start:
``python -m benchmarks.once tests.parity.ours '{"input": "a.txt", "model_prefix": "m"}' 2``
"""

from __future__ import annotations

import hashlib
import importlib
import json
import resource
import sys
import time
from pathlib import Path

from tests.parity.case import Case


def main() -> None:
    side, options, workers = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
    case = Case(options, workers=workers or None)
    module = importlib.import_module(side)
    started = time.perf_counter()
    module.train(case)
    seconds = time.perf_counter() - started
    usage = resource.getrusage(resource.RUSAGE_SELF)
    prefix = options["model_prefix"]
    print(
        json.dumps(
            {
                "seconds": seconds,
                "cpu_seconds": usage.ru_utime + usage.ru_stime,
                "peak_kib": usage.ru_maxrss,
                "sha256": [digest(Path(prefix + end)) for end in (".model", ".vocab")],
            }
        )
    )


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
