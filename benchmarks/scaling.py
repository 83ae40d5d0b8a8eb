"""A model of how training scales with the number of cores. It is not a measurement.

``python -m benchmarks.scaling --folder FOLDER`` trains each text with 1, 2, 4 ... 64 workers and
records the CPU time of every task (`benchmarks.task_times`), which hardly depends on the number of
cores. From these times it computes how long training would take if each worker had a core. It
writes ``scaling-VERSION.json``, and prints the tables or writes them into the page given by
``--page PAGE``. Without a folder, it takes the times from the stored file.

The model of a step in which n workers are called:

- A worker that is free takes the next task. One thread hands out the tasks.
- If each worker has one task, and all tasks take their work from one list, the time is that of the
  whole work divided by n.
- In the passes over all pretokens, at most `PARTIAL_SUMS` workers add at the same time, each to a
  different partial sum. `IN_TURN` is the share of the work of a pass that must be done in turn.
- The time that the main thread itself needs does not depend on n.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import spmcompat
from benchmarks import ROOT
from benchmarks.sides import ours
from tests.parity import corpora
from tests.parity.case import Option, one_string

CORES = (1, 2, 4, 8, 16, 32, 64)
TEXTS = ("en-books", "zh-laws")
TYPES = ("unigram", "bpe")
PARTIAL_SUMS = 16
"""The default of ``num_threads``."""
IN_TURN = {"E-step": 0.33, "Counting best paths": 0.5}
"""By step: an upper bound of the share of the work that must be done in turn, measured by perf."""

_PROCESSOR = Path("/proc/cpuinfo")
_RESULTS = ROOT / "benchmarks" / "results"
_BEGIN, _END = "<!-- written by python -m benchmarks.scaling -->", "<!-- end of what is written -->"
_SMALL = 0.02  # steps whose share of the time is smaller with both 1 and 16 cores are added up


class Call(NamedTuple):
    """The CPU seconds of one call of the workers: of each task, and of handing out the tasks."""

    tasks: list[float]
    handing: float = 0.0


class Step(NamedTuple):
    """A step of one training run.

    Attributes
    ----------
    name : str
        The name of the step in the report. Several steps may have the same name.
    seconds : float
        Wall time.
    main : float
        CPU time of the main thread, without the time for handing out tasks.
    calls : list of Call
        The calls of the workers, in order.
    """

    name: str
    seconds: float
    main: float
    calls: list[Call]


def schedule(tasks: Iterable[float], workers: int) -> float:
    """Return the time for all tasks if each worker takes the next task as soon as it is free."""
    free = [0.0] * workers
    for task in tasks:
        heapq.heapreplace(free, free[0] + task)
    return max(free)


def call_seconds(call: Call, workers: int, is_shared: bool = False, in_turn: float = 0.0) -> float:
    """Return how long a call takes if each worker has a core."""
    if not is_shared:
        return max(schedule(call.tasks, workers), call.handing)
    work = sum(call.tasks)
    return max(work / workers, in_turn * work / min(workers, PARTIAL_SUMS), call.handing)


def step_seconds(step: Step, with_one: Step, workers: int) -> float:
    """Return the seconds of a step if each worker has a core.

    `with_one` is the same step in a run with one worker. If all workers take the work of a call
    from one list, the call has one task for each worker: one task in `with_one`, and `workers`
    tasks in `step`.
    """
    seconds = step.main
    for index, call in enumerate(step.calls):
        is_shared = (
            len(call.tasks) == workers
            and index < len(with_one.calls)
            and len(with_one.calls[index].tasks) == 1
        )
        seconds += call_seconds(call, workers, is_shared, IN_TURN.get(step.name, 0.0))
    return seconds


def predict(records: Mapping[int, Sequence[Step]]) -> dict[str, list[float]]:
    """Return, by the name of a step, the predicted seconds for each number of workers."""
    found: dict[str, list[float]] = {}
    for index, (workers, steps) in enumerate(records.items()):
        if [step.name for step in steps] != [step.name for step in records[1]]:
            raise SystemExit(f"Training with 1 and with {workers} workers had different steps.")
        for step, with_one in zip(steps, records[1], strict=True):
            sums = found.setdefault(step.name, [0.0] * len(records))
            sums[index] += step_seconds(step, with_one, workers)
    return {name: seconds for name, seconds in found.items() if max(seconds) > 0}


def record(text: Path, options: Mapping[str, Option]) -> list[Step]:
    """Train once in a separate process, and return the steps of the training."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = {"input": str(text.resolve()), "model_prefix": "m", "minloglevel": 2, **options}
        script = str(ROOT / "benchmarks" / "task_times.py")
        command = [sys.executable, script, one_string(arguments)]
        environment = {**os.environ, **ours(1).environment}
        subprocess.run(command, cwd=folder, check=True, env=environment)
        steps = json.loads((Path(folder) / "tasks.json").read_text())
    return [Step(**{**step, "calls": [Call(**call) for call in step["calls"]]}) for step in steps]


def least(records: Sequence[Sequence[Step]]) -> list[Step]:
    """For each step, return its record from the run in which the step took the least CPU time."""
    return [min(steps, key=_cost) for steps in zip(*records, strict=True)]


def _cost(step: Step) -> float:
    return step.main + sum(sum(call.tasks) + call.handing for call in step.calls)


def measure(text: Path, options: Mapping[str, Option], runs: int) -> dict[str, Any]:
    """Record training runs, and return the measured and the predicted times."""
    records = {
        workers: [record(text, {**options, "workers": workers}) for _ in range(runs)]
        for workers in CORES
    }
    walls = {
        str(workers): min(sum(step.seconds for step in steps) for steps in records[workers])
        for workers in (1, 2)
    }
    best = {workers: least(found) for workers, found in records.items()}
    return {"measured": walls, "predicted": predict(best)}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("texts", nargs="*", default=[], help=f"names (default: {TEXTS})")
    parser.add_argument(
        "--folder", help=f"folder of the texts (default: ${corpora.FOLDER_VARIABLE})"
    )
    parser.add_argument("--runs", type=int, default=3, help="runs of each training")
    parser.add_argument("--vocab_size", type=int, default=32000)
    parser.add_argument("--page", type=Path, help="write the tables into this page")
    parser.add_argument("--results", type=Path, default=_RESULTS, help="folder of the results")
    arguments = parser.parse_args(argv)
    path = arguments.results / f"scaling-{spmcompat.__version__}.json"
    found = corpora.large(arguments.folder) if arguments.folder or arguments.texts else {}
    if found:
        path.write_text(json.dumps(_measure_all(arguments, found), indent=1) + "\n")
    if not path.is_file():
        raise SystemExit("Nothing was measured yet. Give --folder.")
    written = tables(json.loads(path.read_text()))
    if arguments.page is None:
        print(written)
    else:
        write_into(arguments.page, written)
    return 0


def _measure_all(arguments: argparse.Namespace, found: Mapping[str, Path]) -> dict[str, Any]:
    rows = []
    for name in arguments.texts or TEXTS:
        if name not in found:
            raise SystemExit(f"{name}.txt is not in the folder.")
        for kind in TYPES:
            options = {
                "model_type": kind,
                "vocab_size": arguments.vocab_size,
                "hard_vocab_limit": False,
                "num_threads": PARTIAL_SUMS,
            }
            row = {"text": name, "type": kind, **measure(found[name], options, arguments.runs)}
            rows.append(row)
            print(f"{name} {kind}: {_summary(row)}", file=sys.stderr, flush=True)
    return {
        "day": date.today().isoformat(),
        "machine": _processor(),
        "runs": arguments.runs,
        "vocab_size": arguments.vocab_size,
        "cores": list(CORES),
        "rows": rows,
    }


def _processor() -> str:
    lines = _PROCESSOR.read_text().splitlines() if _PROCESSOR.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, {len(names)} cores"


def _totals(row: Mapping[str, Any]) -> list[float]:
    return [sum(seconds) for seconds in zip(*row["predicted"].values(), strict=True)]


def _summary(row: Mapping[str, Any]) -> str:
    totals = _totals(row)
    return ", ".join(
        f"{cores}: {seconds:.2f} s" for cores, seconds in zip(CORES, totals, strict=True)
    )


def tables(stored: Mapping[str, Any]) -> str:
    """Return the tables of a result in Markdown."""
    cores = stored["cores"]
    header = " | ".join(str(n) for n in cores)
    rule = "---:|" * len(cores)
    lines = [
        f"Computed from the tasks of {_times(stored['runs'])} with each number of workers, "
        f"{stored['vocab_size']:,} pieces, on {stored['machine']}, "
        f"{stored['day']}. Only the columns called measured are measured.",
        "",
        f"| seconds | 1, measured | 2, measured | {header} |",
        f"|---|---:|---:|{rule}",
    ]
    for row in stored["rows"]:
        cells = [row["measured"]["1"], row["measured"]["2"], *_totals(row)]
        lines.append(f"| {_title(row)} | {' | '.join(f'{cell:.2f}' for cell in cells)} |")
    lines += ["", f"| times faster than one core | {header} |", f"|---|{rule}"]
    for row in stored["rows"]:
        totals = _totals(row)
        cells = [f"{totals[0] / seconds:.1f}" for seconds in totals]
        lines.append(f"| {_title(row)} | {' | '.join(cells)} |")
    for row in stored["rows"]:
        lines += ["", f"| {_title(row)}: seconds of a step | {header} |", f"|---|{rule}"]
        for name, seconds in _large_steps(row, cores.index(16)).items():
            lines.append(f"| {name} | {' | '.join(f'{second:.3f}' for second in seconds)} |")
    return "\n".join(lines)


def _times(runs: int) -> str:
    return "one training" if runs == 1 else f"{runs} trainings"


def _title(row: Mapping[str, Any]) -> str:
    return f"`{row['text']}`, {row['type']}"


def _large_steps(row: Mapping[str, Any], sixteen: int) -> dict[str, list[float]]:
    """Return the seconds of the steps of a row, by descending time with 16 cores.

    The steps that take little time are added up to one entry.
    """
    totals = _totals(row)
    steps = sorted(row["predicted"].items(), key=lambda item: -item[1][sixteen])
    large, rest = {}, [0.0] * len(totals)
    for name, seconds in steps:
        if seconds[0] > _SMALL * totals[0] or seconds[sixteen] > _SMALL * totals[sixteen]:
            large[name] = seconds
        else:
            rest = [a + b for a, b in zip(rest, seconds, strict=True)]
    return {**large, "all others": rest}


def write_into(page: Path, written: str) -> None:
    """Replace the text between the two marks of a page."""
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise SystemExit(f"{page} has no lines {_BEGIN} and {_END}.")
    page.write_text(f"{before}{begin}\n\n{written}\n\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
