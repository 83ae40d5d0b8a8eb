"""Wall time and peak memory of training, ours and others, in fresh processes.

``python benchmarks/run.py`` measures every row whose text is in the folder; names of rows, groups
or files measure those. All sides take turns, and the least of all runs of a side counts. A row
whose bytes differ between ours and the installed sentencepiece has no result.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

if __package__ in (None, ""):
    # Started as a file: its folder stands where the checkout should.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks import ROOT, measure, rows, sides, tables
from benchmarks.corpora import digest
from benchmarks.measure import Run
from benchmarks.results import Measured, Result, Store, machine, today, trouble
from benchmarks.rows import GROUPS, ROWS, Row
from benchmarks.sides import MissingSideError, Side
from spmcompat.releases import DEFAULT
from tests.parity import corpora
from tests.parity.case import Option


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python benchmarks/run.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"groups: {', '.join(GROUPS)}\nrows: {', '.join(ROWS)}",
    )
    parser.add_argument("names", nargs="*", help="rows, groups, files of the folder, or paths")
    parser.add_argument("--folder", help=f"of the corpora (default: ${corpora.FOLDER_VARIABLE})")
    parser.add_argument(
        "--type", default="unigram", choices=sorted(DEFAULT.model_types), help="of the models"
    )
    parser.add_argument("--runs", type=int, default=3, help="of each side (default: 3)")
    parser.add_argument("--threads", type=int, default=2, help="of both sides (default: 2)")
    parser.add_argument("--workers", type=int, nargs="+", help="of ours, beside --threads")
    parser.add_argument(
        "--also", nargs="+", default=[], metavar="SIDE", help="tokenizers, sentencepiece==0.2.1"
    )
    parser.add_argument(
        "--check", action="store_true", help="run the reference once where only ours is measured"
    )
    parser.add_argument(
        "--scale", type=float, default=1.0, help="take this share of every text, to try things out"
    )
    parser.add_argument(
        "--results", type=Path, default=ROOT / "benchmarks" / "results", help="folder to write to"
    )
    given = parser.parse_args(argv)
    if min(given.runs, given.threads, *(given.workers or [1])) < 1 or not 0 < given.scale <= 1:
        parser.error("--runs, --threads and --workers are 1 or more, --scale is at most 1")
    if "tokenizers" in given.also and given.type != "unigram":
        parser.error("of tokenizers only the Unigram trainer is measured")
    return given


def worker_counts(given: argparse.Namespace) -> list[int]:
    """Return how many workers ours is measured with: 1, 2, 4, ... up to the cores."""
    cores = len(os.sched_getaffinity(0))
    counts = given.workers or [2**power for power in range(cores.bit_length())]
    return sorted({*counts, given.threads})


def sides_of(row: Row, given: argparse.Namespace) -> list[Side]:
    """Return who is measured in a row, in the order of the turns."""
    if row.text is None:
        return sides.imports()
    counts = worker_counts(given) if row.every_worker_count else [given.threads]
    chosen = [sides.ours(count, row.command) for count in counts]
    if row.every_worker_count:
        chosen.append(sides.stages(given.threads))
    if not row.ours_only or given.check:
        chosen.append(sides.reference(row.command))
    if not row.ours_only and not row.command:
        chosen += [sides.other(name, given.threads) for name in given.also]
    return chosen


class Progress:
    """Tells every run on standard error as it ends."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0

    def begin(self, row: Row, side: Side) -> None:
        self.done += 1
        self._write(f"[{self.done}/{self.total}] {row.name}: {side.label} ... ", end="")

    def end(self, run: Run) -> None:
        self._write(run.failure or f"{run.seconds:.2f} s, {run.peak_kib / 1024:,.0f} MiB")

    def skip(self, count: int) -> None:
        """Tell that so many runs will not be made."""
        self.total -= count

    @staticmethod
    def _write(text: str, end: str = "\n") -> None:
        print(text, end=end, file=sys.stderr, flush=True)


def runs_of(row: Row, side: Side, given: argparse.Namespace) -> int:
    """Return how often a side is run in a row."""
    if row.ours_only and side.role == "reference":
        return 1
    return max(int(given.runs), row.least_runs)


def take_turns(
    row: Row,
    text: Path | None,
    chosen: Sequence[Side],
    given: argparse.Namespace,
    progress: Progress,
) -> list[Measured]:
    """Run all sides in turn; stop where the row can have no result any more."""
    options: dict[str, Option] = {**row.options, "num_threads": given.threads}
    options["model_type"] = given.type
    runs: list[list[Run]] = [[] for _ in chosen]
    most = [runs_of(row, side, given) for side in chosen]

    def so_far() -> list[Measured]:
        pairs = zip(chosen, runs, strict=True)
        return [Measured(s.role, s.label, s.version, s.workers, done) for s, done in pairs]

    for turn in range(max(most)):
        for side, done, limit in zip(chosen, runs, most, strict=True):
            if turn >= limit or (done and done[-1].failure):
                progress.skip(turn < limit)
                continue
            progress.begin(row, side)
            done.append(measure.train(side, text, options))
            progress.end(done[-1])
            if trouble(so_far()):
                progress.skip(sum(most) - sum(map(len, runs)))
                return so_far()
    return so_far()


def measure_row(
    row: Row, files: Mapping[str, Path], given: argparse.Namespace, progress: Progress
) -> Result:
    """Make the text of a row and measure all its sides."""
    here = machine()
    with tempfile.TemporaryDirectory() as scratch:
        text = row.text.make(files, Path(scratch), given.scale) if row.text else None
        return Result(
            name=row.name,
            title=row.text.title if row.text else "",
            size=text.stat().st_size if text else 0,
            sha256=digest(text) if text else "",
            options={**row.options, "model_type": given.type},
            threads=given.threads,
            scale=given.scale,
            day=today(),
            machine=here,
            sides=take_turns(row, text, sides_of(row, given), given, progress),
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and write results, tables and figure; 0 when every row has a result."""
    given = arguments(argv)
    try:
        chosen, files = rows.chosen(given.names, corpora.large(given.folder))
        plan = [(row, side) for row in chosen for side in sides_of(row, given)]
    except MissingSideError as error:
        raise SystemExit(str(error)) from None
    version = next(side.version for _, side in plan if side.role == "ours")
    store = Store(given.results / f"{given.type}-{version}.json")
    store.check(machine(), given.threads, given.scale)
    absent = [] if given.names else [name for name in ROWS if name not in {r.name for r in chosen}]
    if absent:
        print(
            f"not measured, since their texts are not there: {', '.join(absent)}", file=sys.stderr
        )
    progress = Progress(sum(runs_of(row, side, given) for row, side in plan))
    refused = []
    for row in chosen:
        result = measure_row(row, files, given, progress)
        if why := trouble(result.sides):
            refused.append(f"{row.name} has no result: {why}")
            print(refused[-1], file=sys.stderr, flush=True)
            store.drop(row.name)
            store.save()
        else:
            store.add(result)
    tables.write(store.path)
    print(store.path.with_suffix(".md").read_text(), *refused, sep="\n")
    return 1 if refused else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("\ninterrupted; the rows that were done are kept.", file=sys.stderr)
        sys.exit(130)
