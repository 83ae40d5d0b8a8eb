"""Compares the code of the checkout with the code of an earlier commit, row by row.

Both builds train the same text in pairs of runs. The speed of a machine may change by a third
within minutes, so only the two runs of a pair are compared with each other: each pair gives one
ratio, new divided by old, and the median of these ratios counts.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks import builds, measure, rows, sides
from benchmarks.builds import Build, BuildError
from benchmarks.measure import Run
from benchmarks.progress import Progress
from benchmarks.results import Measured, machine, today, trouble
from benchmarks.rows import Row
from benchmarks.sides import MissingSideError, Side
from benchmarks.tables import table
from tests.parity import corpora
from tests.parity.case import Option

LIMIT = 3.0
"""By default, a row is reported if one of its ratios is above 1 by more than this percentage."""

HEAD = ["row", "pairs", "new: least", "median", "old: least", "median", "wall time new/old"]
HEAD += ["CPU time new/old", "new: memory", "old: memory", "memory new/old"]

Pair = tuple[Run, Run]
Train = Callable[[Side], Run]


@dataclass(frozen=True)
class Comparison:
    """One row: pairs of a new and an old run, or in `trouble` why they cannot be compared."""

    row: str
    pairs: list[Pair]
    trouble: str = ""

    @property
    def ratios(self) -> dict[str, list[float]]:
        """The ratios of the new value to the old value, one for each pair."""
        return {
            "wall time": [new.seconds / old.seconds for new, old in self.pairs],
            "CPU time": [new.cpu_seconds / old.cpu_seconds for new, old in self.pairs],
            "peak memory": [new.peak_kib / old.peak_kib for new, old in self.pairs],
        }

    def worse(self, percent: float) -> str:
        """Say why the new code is worse in this row. Return an empty text if it is not worse."""
        if self.trouble:
            return self.trouble
        medians = {name: median(ratios) for name, ratios in self.ratios.items()}
        limit = 1 + percent / 100
        return ", ".join(f"{name} {ratio:.3f}" for name, ratio in medians.items() if ratio > limit)


def in_turns(turn: int, both: Sequence[Side], train: Train) -> Pair:
    """Run both sides, one after the other. The side that starts changes with every turn."""
    first = turn % 2
    runs = {index: train(both[index]) for index in (first, 1 - first)}
    return runs[0], runs[1]


def side_by_side(turn: int, both: Sequence[Side], train: Train) -> Pair:
    """Run both sides at the same time, each on its own core. The cores are swapped every turn."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    with ThreadPoolExecutor(2) as threads:
        new, old = (
            threads.submit(_train_on_core, cores[(turn + index) % 2], side, train)
            for index, side in enumerate(both)
        )
        return new.result(), old.result()


def _train_on_core(core: int, side: Side, train: Train) -> Run:
    # The affinity applies only to the calling thread and to the process that this thread starts.
    os.sched_setaffinity(0, {core})
    return train(side)


def sides_of(row: Row, both: Sequence[Build], workers: int) -> list[Side]:
    """Return what a row compares: the same program in the new build and in the old build."""
    chosen = [sides.built_in(build.folder, build.name, workers, row.command) for build in both]
    return [sides.importing(side) for side in chosen] if row.text is None else chosen


def pairs_of(row: Row, arguments: argparse.Namespace) -> int:
    """Return the number of pairs of runs. It is even, so that each side starts equally often."""
    runs = max(int(arguments.runs), row.least_runs)
    return runs + runs % 2


def compare(
    row: Row,
    both: Sequence[Side],
    train: Train,
    arguments: argparse.Namespace,
    progress: Progress,
) -> Comparison:
    """Run all pairs of a row. Stop as soon as a run fails or the bytes of the two models differ."""
    run_pair = side_by_side if arguments.side_by_side else in_turns
    count = pairs_of(row, arguments)
    pairs: list[Pair] = []
    for turn in range(count):
        progress.begin(row.name)
        pairs.append(run_pair(turn, both, train))
        runs = zip(*pairs, strict=True)
        why = trouble(Measured.of(side, done) for side, done in zip(both, runs, strict=True))
        progress.end(why or " / ".join(f"{run.seconds:.3f} s" for run in pairs[-1]))
        if why:
            progress.skip(count - len(pairs))
            return Comparison(row.name, pairs, why)
    return Comparison(row.name, pairs)


def document(
    done: Sequence[Comparison], both: Sequence[Build], arguments: argparse.Namespace, load: float
) -> str:
    """Return the table in Markdown; its last line counts the rows above the limit."""
    found = {comparison.row: comparison.worse(arguments.limit) for comparison in done}
    worse = [f"{row}: {why}" for row, why in found.items() if why]
    lines = [_line(comparison) for comparison in done if not comparison.trouble]
    verdict = f"{len(worse)} of {len(done)} rows are slower or larger by more than "
    verdict += f"{arguments.limit:g} %, or failed."
    parts = [
        f"# {arguments.type} models: {both[0].name} (new) against {both[1].name} (old)",
        setting(arguments, load),
        table(HEAD, lines),
        "\n".join(f"- {text}" for text in worse),
        verdict,
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def setting(arguments: argparse.Namespace, load: float) -> str:
    """Describe how the rows were measured, and where."""
    here = machine()
    how = (
        "side by side with 1 worker each, on two cores that they swap after every pair"
        if arguments.side_by_side
        else f"one after the other with {arguments.threads} workers, and the order changes after "
        "every pair"
    )
    scale = f" Only {arguments.scale:g} of each text." if arguments.scale != 1 else ""
    return (
        f"`num_threads={arguments.threads}`. Each run is a new process. The two runs of a pair ran "
        f"{how}. Both sides wrote the same bytes in all runs. A ratio is the median of the ratios "
        "of all pairs; the smallest and the largest ratio follow in brackets. Memory is the "
        f"median of the peaks of all runs.{scale} {here['processor']}, {here['cores']} cores, "
        f"{here['memory_gib']} GiB, Python {here['python']}, load {load} at the start, {today()}."
    )


def _line(comparison: Comparison) -> list[str]:
    wall_time, cpu_time, memory = map(_ratio_text, comparison.ratios.values())
    news, olds = zip(*comparison.pairs, strict=True)
    peaks = [median(run.peak_kib for run in runs) / 1024 for runs in (news, olds)]
    return [
        comparison.row,
        str(len(comparison.pairs)),
        *_least_and_median(news),
        *_least_and_median(olds),
        wall_time,
        cpu_time,
        *(f"{peak:.1f} MiB" for peak in peaks),
        memory,
    ]


def _least_and_median(runs: Sequence[Run]) -> list[str]:
    times = [run.seconds for run in runs]
    return [f"{min(times):.3f} s", f"{median(times):.3f} s"]


def _ratio_text(ratios: Sequence[float]) -> str:
    return f"{median(ratios):.3f} ({min(ratios):.2f}-{max(ratios):.2f})"


def measure_row(
    row: Row,
    files: Mapping[str, Path],
    both: Sequence[Side],
    arguments: argparse.Namespace,
    progress: Progress,
) -> Comparison:
    """Create the text that a row needs, and compare the new code with the old code on this text."""
    options: dict[str, Option] = {**row.options, "num_threads": arguments.threads}
    options["model_type"] = arguments.type
    with tempfile.TemporaryDirectory() as scratch:
        text = row.text.make(files, Path(scratch), arguments.scale) if row.text else None
        train = partial(measure.train, text=text, options=options)
        return compare(row, both, train, arguments, progress)


def main(arguments: argparse.Namespace) -> int:
    """Measure all rows and print the table. Return 1 if a row failed or the new code is worse."""
    chosen, files = rows.chosen(arguments.names, corpora.large(arguments.folder))
    load = machine()["load"][0]
    workers = 1 if arguments.side_by_side else arguments.threads
    try:
        both = [builds.of_checkout(), builds.of_commit(arguments.against)]
        plan = [(row, sides_of(row, both, workers)) for row in chosen]
    except (BuildError, MissingSideError) as error:
        raise SystemExit(str(error)) from None
    progress = Progress(sum(pairs_of(row, arguments) for row in chosen))
    done: list[Comparison] = []
    try:
        for row, new_and_old in plan:
            done.append(measure_row(row, files, new_and_old, arguments, progress))
            if arguments.output:
                arguments.output.write_text(document(done, both, arguments, load))
    finally:
        # Print the table even after Ctrl-C, because the finished rows took a long time to measure.
        print(document(done, both, arguments, load), end="")
    return int(any(comparison.worse(arguments.limit) for comparison in done))
