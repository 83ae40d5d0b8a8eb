"""Time and memory of training several vocabulary sizes in one run, and in a run for each size.

``python -m benchmarks.sizes TEXT ...`` prints two tables, one for each model type, and compares the
bytes of all models. Each training is run several times, alternating with the others; its run with
the least CPU time counts. Look at CPU time rather than wall time if other programs use the same
machine.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks import sides
from benchmarks.corpora import digest
from benchmarks.sides import Side
from spmcompat.runtime.measure import Process, run
from tests.parity.case import Option

SIZES = (4000, 8000, 16000, 32000)
HEAD = (
    "| text | size alone | CPU time | wall time | memory | all from one run / this | "
    "wall time | memory |\n|---|---|---|---|---|---|---|---|"
)


class Training(NamedTuple):
    """A run, and the digests of the files that it wrote, by name."""

    process: Process
    files: dict[str, str]


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sizes", description=__doc__)
    parser.add_argument("texts", nargs="+", type=Path, help="files to train on, one by one")
    parser.add_argument(
        "--vocab_size", type=int, nargs="+", default=SIZES, help="sizes (default: 4000 to 32000)"
    )
    parser.add_argument("--type", nargs="+", default=["unigram", "bpe"], choices=sides.MODEL_TYPES)
    parser.add_argument(
        "--threads", type=int, default=2, help="num_threads and workers (default: 2)"
    )
    parser.add_argument(
        "--runs",
        type=int,
        default=2,
        help="runs of each training; the one with the least CPU time counts (default: 2)",
    )
    return parser.parse_args(argv)


def train(side: Side, text: Path, options: dict[str, Option]) -> Training:
    """Train in a new folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "text.txt").symlink_to(text.resolve())
        command = side.command({"input": "text.txt", "hard_vocab_limit": False, **options})
        process = run(command, folder, side.environment)
        if process.failure:
            raise SystemExit(f"{text.name}, {options}: {process.failure}")
        files = {path.name: digest(path) for path in folder.glob("m-*")}
        return Training(process, files)


def row(text: Path, size: int, alone: Process, together: Process) -> str:
    ratios = (
        together.cpu_seconds / alone.cpu_seconds,
        together.seconds / alone.seconds,
        together.peak_kib / alone.peak_kib,
    )
    shown = " | ".join(f"{ratio:.2f}" for ratio in ratios)
    return (
        f"| {text.stem} | {size:,} | {alone.cpu_seconds:.1f} s | {alone.seconds:.1f} s | "
        f"{alone.peak_kib / 1024:.0f} MiB | {shown} |"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables; return 1 if any bytes differ."""
    arguments = parse_arguments(argv)
    side = sides.ours(arguments.threads)
    sizes = list(arguments.vocab_size)
    differs = False
    for kind in arguments.type:
        print(f"{kind}:\n{HEAD}", flush=True)
        base: dict[str, Option] = {"model_type": kind, "num_threads": arguments.threads}
        base |= {"minloglevel": 2}
        for text in arguments.texts:
            of_all = {**base, "vocab_size": [str(size) for size in sizes], "model_prefix": "m"}
            of_each = [{**base, "vocab_size": size, "model_prefix": f"m-{size}"} for size in sizes]
            rounds = [
                [train(side, text, options) for options in (of_all, *of_each)]
                for _ in range(arguments.runs)
            ]
            best = [
                min(same, key=lambda one: one.process.cpu_seconds)
                for same in zip(*rounds, strict=True)
            ]
            together, alone = best[0], best[1:]
            for size, one in zip(sizes, alone, strict=True):
                print(row(text, size, one.process, together.process), flush=True)
            expected = {name: data for one in alone for name, data in one.files.items()}
            equal = together.files == expected
            print(f"{text.stem}: {len(expected)} files {'equal' if equal else 'DIFFERENT'}")
            differs |= not equal
    return int(differs)


if __name__ == "__main__":
    raise SystemExit(main())
