"""Time and memory of the research options, each compared with the default on one text.

``python -m benchmarks.options TEXT [OPTION ...]`` prints a table with a line for each argument
OPTION, which may consist of several options: ``prune=flat,prune_overshoot=1``. Look at CPU time
rather than wall time if other programs use the same machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks import sides
from benchmarks.measure import Run, train
from benchmarks.sides import Side
from tests.parity.case import Option

OPTIONS = [
    "seed_mode=pretokens",
    "prefix_recovery=true",
    "seed_mode=pretokens,prefix_recovery=true",
    "seed_mode=bpe,seed_factor=1.15",
    "seed_factor=10",
    "m_step=ml",
    "early_prune_threshold=0",
    "early_prune_threshold=2",
    "prune=flat",
    "prune=flat,shrinking_factor=0",
    "prune=exact",
    "prune_overshoot=1",
    "prune_overshoot=2",
    "final_estimate=renormalize",
    "final_estimate=em:2",
    "space_pieces=separate",
    "pretokenizer=script",
    "recipe=paper",
    "recipe=fsp",
    "recipe=mingram",
    "model_type=bpe,space_pieces=separate",
    "shrinking_factor=0.95",
]


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.options", description=__doc__)
    parser.add_argument("text", type=Path, help="file to train on")
    parser.add_argument("options", nargs="*", default=OPTIONS, help="NAME=VALUE[,NAME=VALUE]")
    parser.add_argument("--vocab_size", type=int, default=32_000, help="pieces (default: 32000)")
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


def least(side: Side, text: Path, options: Sequence[Mapping[str, Option]], runs: int) -> list[Run]:
    """Train with each set of options in turn. Return each set's run with the least CPU time."""
    found = [[train(side, text, chosen) for chosen in options] for _ in range(runs)]
    return [min(same, key=lambda run: run.cpu_seconds) for same in zip(*found, strict=True)]


def row(option: str, default: Run, run: Run) -> str:
    if run.failure:
        return f"| `{option}` | failed: {run.failure.splitlines()[-1]} |||||"
    times = run.cpu_seconds / default.cpu_seconds, run.seconds / default.seconds
    return (
        f"| `{option}` | {run.cpu_seconds:.1f} s | {times[0]:.2f} | {run.seconds:.1f} s | "
        f"{times[1]:.2f} | {run.peak_kib / 1024:.0f} MiB |"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; return 1 if a training run failed."""
    arguments = parse_arguments(argv)
    side = sides.ours(arguments.threads)
    base: dict[str, Option] = {"vocab_size": arguments.vocab_size, "num_threads": arguments.threads}
    base |= {"hard_vocab_limit": False, "minloglevel": 2}
    print("| option | CPU time | / default | wall time | / default | memory |")
    print("|---|---|---|---|---|---|")
    failed = False
    for option in arguments.options:
        named = dict(part.split("=", 1) for part in option.split(","))
        kind = {name: value for name, value in named.items() if name == "model_type"}
        pair = [{**base, **kind}, {**base, **named}]
        default, run = least(side, arguments.text, pair, arguments.runs)
        print(row(option, default, run), flush=True)
        failed |= bool(default.failure or run.failure)
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
