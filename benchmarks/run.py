"""Wall time and peak memory of both sides, in fresh processes that alternate.

``python -m benchmarks.run en-books code-c --runs 3 --threads 2 --vocab_size 8000``

For each corpus the least of N runs counts. A corpus whose bytes differ between the sides, or
between two runs, has no result. The last line sums up; ``--json`` keeps everything.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks import measure
from benchmarks.measure import OURS, REFERENCE, Run
from tests.parity import corpora
from tests.parity.case import Option


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("corpora", nargs="*", help="names or paths (default: all of the folder)")
    parser.add_argument("--folder", help=f"of the corpora (default: ${corpora.FOLDER_VARIABLE})")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2, help="lanes of both, workers of ours")
    parser.add_argument("--vocab_size", type=int, default=8000)
    parser.add_argument("--soft", action="store_true", help="hard_vocab_limit=False")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--least", type=float, default=0.0, help="skip files below this many MB")
    parser.add_argument("--json", type=Path)
    return parser.parse_args(argv)


def chosen(given: argparse.Namespace) -> dict[str, Path]:
    """Return the corpora to measure, by name."""
    found = corpora.large(given.folder)
    if given.corpora:
        found = {Path(name).stem: found.get(name, Path(name)) for name in given.corpora}
    missing = [name for name, path in found.items() if not path.is_file()]
    if missing or not found:
        raise SystemExit(f"no such corpus: {', '.join(missing) or 'give names or --folder'}")
    return {n: path for n, path in found.items() if path.stat().st_size >= given.least * 1e6}


def compare(path: Path, given: argparse.Namespace) -> dict[str, list[Run]]:
    """Run both sides in turn, `runs` times."""
    options: dict[str, Option] = {"vocab_size": given.vocab_size, "num_threads": given.threads}
    options |= dict(part.split("=", 1) for part in given.option)
    if given.soft:
        options["hard_vocab_limit"] = False
    runs: dict[str, list[Run]] = {OURS: [], REFERENCE: []}
    for _ in range(given.runs):
        runs[OURS].append(measure.train(OURS, path, options, given.threads))
        runs[REFERENCE].append(measure.train(REFERENCE, path, options))
    return runs


def trouble(runs: dict[str, list[Run]]) -> str:
    """Say why a corpus has no result; empty where it has one."""
    for side, name in ((OURS, "ours"), (REFERENCE, "reference")):
        for run in runs[side]:
            if run.failure:
                return f"{name} failed: {run.failure}"
    digests = {run.sha256 for side in runs.values() for run in side}
    return "" if len(digests) == 1 else "BYTES DIFFER: no result"


def summary(runs: dict[str, list[Run]]) -> dict[str, float]:
    ours, reference = runs[OURS], runs[REFERENCE]
    least = {
        "ours_seconds": min(run.wall for run in ours),
        "reference_seconds": min(run.wall for run in reference),
        "ours_mib": min(run.peak_kib for run in ours) / 1024,
        "reference_mib": min(run.peak_kib for run in reference) / 1024,
    }
    return least | {
        "times_faster": least["reference_seconds"] / least["ours_seconds"],
        "memory_share": least["ours_mib"] / least["reference_mib"],
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Measure; 0 when every corpus has a result and none is slower than the reference."""
    given = arguments(argv)
    machine = measure.machine()
    print(", ".join(f"{name} {value}" for name, value in machine.items()))
    print(
        f"{'corpus':<20}{'MB':>8}{'ours s':>9}{'ref s':>9}{'faster':>8}"
        f"{'ours MiB':>10}{'ref MiB':>10}{'share':>7}"
    )
    rows: list[dict[str, object]] = []
    ratios: list[float] = []
    bad: list[str] = []
    for name, path in chosen(given).items():
        size = path.stat().st_size / 1e6
        runs = compare(path, given)
        row: dict[str, object] = {"corpus": name, "mb": round(size, 3)}
        reason = trouble(runs)
        if reason:
            bad.append(name)
            row["trouble"] = reason
            print(f"{name:<20}{size:8.1f}  {reason}", flush=True)
        else:
            least = summary(runs)
            ratios.append(least["times_faster"])
            row |= least
            print(
                f"{name:<20}{size:8.1f}{least['ours_seconds']:9.2f}{least['reference_seconds']:9.2f}"
                f"{least['times_faster']:8.2f}{least['ours_mib']:10.0f}{least['reference_mib']:10.0f}"
                f"{least['memory_share']:7.2f}",
                flush=True,
            )
        row["runs"] = {
            side.rpartition(".")[2]: [asdict(run) for run in runs[side]] for side in runs
        }
        rows.append(row)
        if given.json:
            setting = {key: str(value) for key, value in vars(given).items()}
            told = {"machine": machine, "setting": setting, "corpora": rows}
            given.json.write_text(json.dumps(told, indent=1) + "\n")
    slower = sum(ratio < 1 for ratio in ratios)
    span = f"{min(ratios):.2f} to {max(ratios):.2f} times as fast" if ratios else "no result"
    print(
        f"benchmark: {len(rows)} corpora, {given.runs} runs, {given.threads} threads, vocab "
        f"{given.vocab_size}: {span}, {slower} slower, {len(bad)} without result {bad or ''}"
    )
    return 1 if slower or bad else 0


if __name__ == "__main__":
    sys.exit(main())
