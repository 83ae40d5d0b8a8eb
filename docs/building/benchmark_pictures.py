"""Plots of the results in ``benchmarks/results``."""

import json
from pathlib import Path

from benchmarks import plot, tables
from benchmarks.results import Result, Store
from building import svg

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


def results(model_type: str) -> list[Result]:
    """Return the results of the newest release that was measured."""
    newest = max(FOLDER.glob(f"{model_type}-*.json"))
    return Store(newest).results


def _compared(model_type: str) -> list[Result]:
    return [one for one in results(model_type) if one.is_in("corpora") and one.reference]


def gains() -> str:
    """Draw by which factor time and memory are smaller, for each text in the README."""
    rows = [one for one in _compared("unigram") if one.name in tables.FIVE]
    pairs = [(one.reference, one.ours) for one in rows if one.reference]
    return svg.bars(
        "Gains over sentencepiece",
        [one.title for one in rows],
        [
            svg.Series("times faster", "ours", [a.seconds / b.seconds for a, b in pairs]),
            svg.Series("times less memory", "third", [a.mib / b.mib for a, b in pairs]),
        ],
        f"compared with {pairs[0][0].label}; Unigram, 32,000 pieces, 2 threads",
    )


def more_cores() -> str:
    """Draw the estimated gain of more cores over one core."""
    stored = json.loads(max(FOLDER.glob("scaling-*.json")).read_text(encoding="utf-8"))
    colours = iter(("ours", "theirs", "third", "faint"))
    series = []
    for row in stored["rows"]:
        seconds = [sum(step) for step in zip(*row["predicted"].values(), strict=True)]
        gain = [seconds[0] / one for one in seconds]
        series.append(svg.Series(f"{row['text']}, {row['type']}", next(colours), gain))
    return svg.curves(
        "Times faster than one core",
        range(len(stored["cores"])),
        series,
        "cores",
        "times faster than one core (estimated)",
        x_labels=[str(cores) for cores in stored["cores"]],
    )


def growth() -> str:
    """Draw time against the size of the text."""
    found = plot.lines(results("unigram"))
    styles = iter(("theirs", "ours", "third"))
    series, xs = [], []
    for label, (_, points) in found.items():
        xs = [size for size, _ in points]
        series.append((label, next(styles), points))
    time = [svg.Series(n, c, [side.seconds for _, side in p]) for n, c, p in series]
    memory = [svg.Series(n, c, [side.mib for _, side in p]) for n, c, p in series]
    axis = "English books, MB"
    return svg.curves("Time against size", xs, time, axis, "wall time, seconds") + svg.curves(
        "Memory against size", xs, memory, axis, "peak memory, MiB"
    )


def _speed(model_type: str) -> str:
    rows = _compared(model_type)
    return svg.bars(
        f"Time to train {model_type} models",
        [one.title for one in rows],
        [
            svg.Series(rows[0].reference.label, "theirs", [r.reference.seconds for r in rows]),
            svg.Series("spmcompat, 2 workers", "ours", [r.ours.seconds for r in rows]),
        ],
        "seconds; shorter is better",
    )


def speed_unigram() -> str:
    """Draw the times of Unigram training."""
    return _speed("unigram")


def speed_bpe() -> str:
    """Draw the times of BPE training."""
    return _speed("bpe")


def memory_unigram() -> str:
    """Draw the peak memory of Unigram training."""
    rows = _compared("unigram")
    return svg.bars(
        "Memory to train unigram models",
        [one.title for one in rows],
        [
            svg.Series(rows[0].reference.label, "theirs", [r.reference.mib for r in rows]),
            svg.Series("spmcompat", "ours", [r.ours.mib for r in rows]),
        ],
        "peak memory, MiB; shorter is better",
    )


def workers() -> str:
    """Draw the times with one worker and with two."""
    rows = _compared("unigram")
    return svg.bars(
        "Time with one worker and with two",
        [one.title for one in rows],
        [
            svg.Series(f"{n} worker{'s' * (n > 1)}", c, [r.by_workers[n].seconds for r in rows])
            for n, c in ((1, "faint"), (2, "ours"))
        ],
        "seconds, Unigram, 32,000 pieces",
    )


def types() -> str:
    """Draw spmcompat's times of Unigram and BPE training."""
    merges = {one.name: one for one in _compared("bpe")}
    rows = [one for one in _compared("unigram") if one.name in merges]
    return svg.bars(
        "Time to train unigram and bpe models",
        [one.title for one in rows],
        [
            svg.Series("unigram", "ours", [r.ours.seconds for r in rows]),
            svg.Series("bpe", "third", [merges[r.name].ours.seconds for r in rows]),
        ],
        "seconds with 2 workers, 32,000 pieces",
    )


def stages() -> str:
    """Draw how long each stage of a large training takes."""
    one = next(r for r in results("unigram") if r.name == "en-books")
    steps = [step for step in one.stages.fastest.steps if step.seconds >= 0.02]
    return svg.bars(
        "Stages of a training run",
        [step.name for step in steps],
        [svg.Series("seconds", "ours", [step.seconds for step in steps])],
        f"seconds: {one.title}, {one.size / 1e6:.0f} MB, 32,000 pieces, 2 workers",
    )
