"""Measures the wall time and peak memory of spmcompat and other trainers, in new processes.

``python benchmarks/run.py`` measures every row whose text is in the folder. To measure only some
rows, give the names of rows, groups or texts as arguments. The trainers take turns. The smallest
time and the smallest peak of all runs of a trainer count. A row has no result if spmcompat and the
installed sentencepiece write different bytes. With ``--against COMMIT``, spmcompat is compared with
its own code at an earlier commit instead.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

if __package__ in (None, ""):
    # This file runs as a script, so the checkout must be added to the path for the imports below.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks import ROOT, against, measure, rows, sides, tables
from benchmarks.corpora import digest
from benchmarks.measure import Run
from benchmarks.progress import Progress
from benchmarks.results import Measured, Result, Store, machine, today, trouble
from benchmarks.rows import GROUPS, ROWS, Row
from benchmarks.sides import MissingSideError, Side
from tests.parity import corpora
from tests.parity.case import Option


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python benchmarks/run.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"groups: {', '.join(GROUPS)}\nrows: {', '.join(ROWS)}",
    )
    parser.add_argument(
        "names", nargs="*", help="rows, groups, files of the folder, or paths of texts"
    )
    parser.add_argument(
        "--folder", help=f"folder of the texts (default: ${corpora.FOLDER_VARIABLE})"
    )
    parser.add_argument(
        "--type", default="unigram", choices=sides.MODEL_TYPES, help="model type to train"
    )
    parser.add_argument("--runs", type=int, default=3, help="runs of each side (default: 3)")
    parser.add_argument(
        "--threads", type=int, default=2, help="num_threads, and workers of spmcompat (default: 2)"
    )
    parser.add_argument(
        "--scale", type=float, default=1.0, help="use only this share of every text, for trials"
    )
    _add_reference_options(parser)
    _add_commit_options(parser)
    arguments = parser.parse_args(argv)
    _check(parser, arguments)
    return arguments


def _add_reference_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("compared with sentencepiece")
    group.add_argument(
        "--workers", type=int, nargs="+", help="other numbers of workers for spmcompat"
    )
    group.add_argument(
        "--also",
        nargs="+",
        default=[],
        metavar="SIDE",
        help=f"other trainers to measure: {', '.join(sides.OTHERS)}, sentencepiece==0.2.1",
    )
    group.add_argument(
        "--check",
        action="store_true",
        help="in rows that measure only spmcompat, run sentencepiece once to compare the bytes",
    )
    group.add_argument(
        "--results",
        type=Path,
        default=ROOT / "benchmarks" / "results",
        help="folder to write results to (default: benchmarks/results)",
    )


def _add_commit_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("compared with an earlier commit")
    group.add_argument(
        "--against", metavar="COMMIT", help="compare the code of the checkout with this commit"
    )
    group.add_argument(
        "--side-by-side",
        action="store_true",
        help="run both builds at the same time, each with 1 worker on its own core",
    )
    group.add_argument(
        "--limit",
        type=float,
        default=against.LIMIT,
        metavar="PERCENT",
        help="how much slower or larger a row may be (default: %(default)g)",
    )
    group.add_argument("--output", type=Path, help="also write the table to this file")


def _check(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """End the program if the options contradict each other."""
    least = min(arguments.runs, arguments.threads, *(arguments.workers or [1]))
    if least < 1 or not 0 < arguments.scale <= 1:
        parser.error(
            "--runs, --threads and --workers must be at least 1, --scale above 0 and at most 1"
        )
    if arguments.against and (arguments.workers or arguments.also or arguments.check):
        parser.error("--workers, --also and --check cannot be used with --against")
    if not arguments.against and (arguments.side_by_side or arguments.output):
        parser.error("--side-by-side and --output need --against COMMIT")
    if arguments.side_by_side and len(os.sched_getaffinity(0)) < 2:
        parser.error("--side-by-side needs two cores")


def worker_counts(arguments: argparse.Namespace) -> list[int]:
    """Return the numbers of workers to measure: by default 1, 2, 4, ... up to all cores."""
    cores = len(os.sched_getaffinity(0))
    counts = arguments.workers or [2**power for power in range(cores.bit_length())]
    return sorted({*counts, arguments.threads})


def sides_of(row: Row, arguments: argparse.Namespace) -> list[Side]:
    """Return the sides to measure in a row, in the order of their turns."""
    if row.text is None:
        return sides.imports()
    counts = worker_counts(arguments) if row.every_worker_count else [arguments.threads]
    chosen = [sides.ours(count, row.command) for count in counts]
    if row.every_worker_count:
        chosen.append(sides.stages(arguments.threads))
    if not row.ours_only or arguments.check:
        chosen.append(sides.reference(row.command))
    if not row.ours_only and not row.command:
        chosen += [sides.other(name, arguments.type, arguments.threads) for name in arguments.also]
    return chosen


def runs_of(row: Row, side: Side, arguments: argparse.Namespace) -> int:
    """Return the number of runs of a side in a row."""
    if row.ours_only and side.role == "reference":
        return 1
    return max(int(arguments.runs), row.least_runs)


def take_turns(
    row: Row,
    text: Path | None,
    chosen: Sequence[Side],
    arguments: argparse.Namespace,
    progress: Progress,
) -> list[Measured]:
    """Run all sides in turn; stop as soon as it is certain that the row has no result."""
    options: dict[str, Option] = {**row.options, "num_threads": arguments.threads}
    options["model_type"] = arguments.type
    runs: list[list[Run]] = [[] for _ in chosen]
    limits = [runs_of(row, side, arguments) for side in chosen]

    def so_far() -> list[Measured]:
        return [Measured.of(side, done) for side, done in zip(chosen, runs, strict=True)]

    for turn in range(max(limits)):
        for side, done, limit in zip(chosen, runs, limits, strict=True):
            if turn >= limit or (done and done[-1].failure):
                progress.skip(turn < limit)
                continue
            progress.begin(f"{row.name}: {side.label}")
            done.append(measure.train(side, text, options))
            progress.end(done[-1].summary)
            if trouble(so_far()):
                progress.skip(sum(limits) - sum(map(len, runs)))
                return so_far()
    return so_far()


def measure_row(
    row: Row, files: Mapping[str, Path], arguments: argparse.Namespace, progress: Progress
) -> Result:
    """Create the text that a row needs, and measure all sides of the row on this text."""
    here = machine()
    with tempfile.TemporaryDirectory() as scratch:
        text = row.text.make(files, Path(scratch), arguments.scale) if row.text else None
        return Result(
            name=row.name,
            title=row.text.title if row.text else "",
            size=text.stat().st_size if text else 0,
            sha256=digest(text) if text else "",
            options={**row.options, "model_type": arguments.type},
            threads=arguments.threads,
            scale=arguments.scale,
            day=today(),
            machine=here,
            sides=take_turns(row, text, sides_of(row, arguments), arguments, progress),
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the rows that the command line names; return the exit status."""
    arguments = parse_arguments(argv)
    return against.main(arguments) if arguments.against else measure_all(arguments)


def measure_all(arguments: argparse.Namespace) -> int:
    """Measure, and write results, tables and figure; return 0 if every row has a result."""
    try:
        chosen, files = rows.chosen(arguments.names, corpora.large(arguments.folder))
        plan = [(row, side) for row in chosen for side in sides_of(row, arguments)]
    except MissingSideError as error:
        raise SystemExit(str(error)) from None
    version = next(side.version for _, side in plan if side.role == "ours")
    store = Store(arguments.results / f"{arguments.type}-{version}.json")
    store.check(machine(), arguments.threads, arguments.scale)
    present = {row.name for row in chosen}
    absent = [] if arguments.names else [name for name in ROWS if name not in present]
    if absent:
        print(f"not measured, because the texts are missing: {', '.join(absent)}", file=sys.stderr)
    progress = Progress(sum(runs_of(row, side, arguments) for row, side in plan))
    refused = []
    for row in chosen:
        result = measure_row(row, files, arguments, progress)
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
        print("\ninterrupted; the finished rows are kept.", file=sys.stderr)
        sys.exit(130)
