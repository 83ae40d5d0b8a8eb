"""Invented results of the benchmark, for tests."""

import pytest

from benchmarks import rows
from benchmarks.measure import Run
from benchmarks.results import Measured, Result, machine

Patch = pytest.MonkeyPatch
Captured = pytest.CaptureFixture[str]
Order = list[tuple[str, set[int]]]

EQUAL, DIFFERENT = ("a" * 64, "b" * 64), ("c" * 64, "b" * 64)


def run(seconds: float = 1.0, mib: float = 100.0, sha256: tuple[str, ...] = EQUAL) -> Run:
    return Run(seconds, seconds, int(mib * 1024), sha256)


def ours(*runs: Run, workers: int = 2) -> Measured:
    return Measured("ours", f"spmcompat, {workers} workers", "0.1.0", workers, list(runs))


def reference(*runs: Run) -> Measured:
    return Measured("reference", "sentencepiece 0.2.3", "0.2.3", 0, list(runs))


def other(*runs: Run) -> Measured:
    return Measured("other", "tokenizers 0.1", "0.1", 0, list(runs))


def result(name: str, *measured: Measured, mb: int = 10) -> Result:
    row = rows.ROWS.get(name)
    return Result(
        name=name,
        title=row.text.title if row and row.text else "",
        size=mb * 1_000_000,
        sha256="0" * 64,
        options={**rows.PIECES, "model_type": "unigram"},
        threads=2,
        scale=1.0,
        day="2026-01-02",
        machine={**machine(), "processor": "a processor", "load": [0.25, 0.0, 0.0]},
        sides=list(measured),
    )


def sizes(*sizes: int) -> list[Result]:
    return [
        result(name, ours(run(2.0, 50)), reference(run(mb)), other(run(mb / 2)), mb=mb)
        for name, mb in zip(rows.GROUPS["sizes"], sizes, strict=False)
    ]
