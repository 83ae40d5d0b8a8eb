"""Results as Markdown: ``python -m benchmarks.tables RESULTS.json [--readme README.md]``.

The command writes all tables and the figure into the folder of the results. It can also put the
main table and the figure into a README, between two comments.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks import plot
from benchmarks.measure import Run, Step
from benchmarks.results import Measured, Result, Store

BEGIN = "<!-- written by python -m benchmarks.tables: {} -->"
END = "<!-- end of what is written -->"


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table with aligned columns; empty if it has no lines."""
    lines = list(lines)
    if not lines:
        return ""
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    padded = [
        [line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]
        for line in (head, rule, *lines)
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in padded)


def compared(results: Iterable[Result]) -> str:
    """spmcompat, with as many workers as the others have threads, and the installed release."""
    pairs = [(r, r.reference) for r in results if r.reference and r.is_compared]
    version = pairs[0][1].label if pairs else ""
    counts = sorted({n for r, _ in pairs for n in r.by_workers if n != r.threads})
    head = ["text", "size", version, "spmcompat", "times faster"]
    head += [f"with {_workers(count)}" for count in counts]
    lines = []
    for result, theirs in pairs:
        ours = result.ours
        others = [result.by_workers.get(count) for count in counts]
        lines.append(
            [
                *_text(result),
                _seconds(theirs.seconds),
                _seconds(ours.seconds),
                _times(theirs.seconds / ours.seconds),
                *(_seconds(side.seconds) if side else "-" for side in others),
                _mib(theirs.mib),
                _mib(ours.mib),
                _times(theirs.mib / ours.mib),
            ]
        )
    return table([*head, "memory theirs", "ours", "times less"], lines)


def by_workers(results: Iterable[Result]) -> str:
    """spmcompat with several numbers of workers; all of them write the same bytes."""
    results = [result for result in results if len(result.by_workers) > 1]
    counts = sorted({count for result in results for count in result.by_workers})
    return table(
        ["text", "size", *map(_workers, counts)],
        ([*_text(r), *(_cost(r.by_workers.get(count)) for count in counts)] for r in results),
    )


def all_sides(results: Iterable[Result]) -> str:
    """All trainers; the others make different models of the same size from the same text."""
    found = {
        r: {side.label: side for side in (r.ours, r.reference, *r.others) if side is not None}
        for r in results
        if r.others and not r.is_in("start")
    }
    labels = list(dict.fromkeys(label for sides in found.values() for label in sides))
    return table(
        ["text", "size", *labels],
        ([*_text(r), *(_cost(sides.get(label)) for label in labels)] for r, sides in found.items()),
    )


def growth(results: Iterable[Result]) -> str:
    """spmcompat on several copies of a text, compared with spmcompat on the text itself."""
    found = [result for result in results if result.is_in("growth")]
    if len(found) < 2:
        return ""
    once = min(found, key=lambda result: result.size)
    return table(
        ["text", "size", "spmcompat", "times the size", "the time", "the memory", "bytes"],
        (
            [
                *_text(result),
                _cost(result.ours),
                _times(result.size / once.size),
                _times(result.ours.seconds / once.ours.seconds),
                _times(result.ours.mib / once.ours.mib),
                f"equal to {result.reference.label}" if result.reference else "not compared",
            ]
            for result in sorted(found, key=lambda result: result.size)
        ),
    )


def start(results: Iterable[Result]) -> str:
    """Short runs, in which the start matters most: imports, and 2,000 pieces from a small text."""
    lines = []
    for result in results:
        if result.is_in("start") and result.reference:
            ours, theirs = result.ours, result.reference
            what = result.title or "import"
            how = "spm_train" if result.name == "small-command" else "Python"
            share = f"{ours.seconds / theirs.seconds:.0%}"
            lines.append([what, how, _ms(theirs), _ms(ours), share])
            if not result.title:
                lines += [["Python alone", how, _ms(s), _ms(s), "100%"] for s in result.others]
    return table(["what", "ours from", "sentencepiece", "spmcompat", "share"], lines)


def stages(results: Iterable[Result]) -> str:
    """Seconds of every step of spmcompat and, in brackets, how many cores it kept busy."""
    runs = {r: r.stages.fastest for r in results if r.stages}
    costs = [{step.name: step for step in run.steps} for run in runs.values()]
    names = dict.fromkeys(name for steps in costs for name in steps)
    lines = [[name, *(_busy(steps.get(name)) for steps in costs)] for name in names]
    whole = ["whole process", *map(_busy, runs.values())]
    shown = [line for line in (*lines, whole) if set(line[1:]) != {"-"}]
    return table(["step", *(result.name for result in runs)], shown if runs else [])


def setting(results: Sequence[Result]) -> str:
    """Describe how and where the results were measured."""
    if not results:
        return "Nothing was measured."
    trained = [result for result in results if result.is_compared]
    parts = []
    if trained:
        first = trained[0]
        runs = min(len(result.ours.runs) for result in trained)
        parts.append(
            f"Both sides have `num_threads={first.threads}`, ours {first.threads} workers; "
            f"{first.options['vocab_size']:,} pieces, `hard_vocab_limit=False`. Each run is a new "
            "process, and the sides take turns; the smallest value of "
            f"{runs} run{'s' if runs > 1 else ''} of each side counts."
        )
    if results[0].scale != 1:
        parts.append(
            f"A trial with only {results[0].scale} of each text: do not rely on these numbers."
        )
    machine = results[0].machine
    loads = [result.machine["load"][0] for result in results]
    days = sorted(result.day for result in results)
    parts.append(
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB, "
        f"{machine['system']}, Python {machine['python']}, load {min(loads)} to {max(loads)}, "
        f"{' to '.join(dict.fromkeys([days[0], days[-1]]))}."
    )
    return " ".join(parts)


SECTIONS = (
    ("Time and memory", compared),
    ("Other trainers", all_sides),
    ("Workers", by_workers),
    ("Several copies of a text", growth),
    ("Start", start),
    ("Stages of spmcompat", stages),
)


def document(results: Sequence[Result], figure: str = "") -> str:
    """Return all tables as one Markdown document."""
    kind = results[0].model_type if results else ""
    parts = [f"# Training {kind} models: time and memory", setting(results)]
    if figure:
        parts.append(f"![Time and memory against size]({figure})")
    for title, section in SECTIONS:
        if text := section(results):
            parts += [f"## {title}", str(section.__doc__), text]
    return "\n\n".join(parts) + "\n"


def summary(results: Sequence[Result], figure: str = "") -> str:
    """Return the part of the results that a README shows."""
    corpora = [result for result in results if result.is_in("corpora")]
    shown = f"![Time and memory against size]({figure})" if figure else ""
    parts = [shown, setting(corpora), compared(corpora), growth(results)]
    return "\n\n".join(filter(None, parts))


def put_into(readme: str, model_type: str, text: str) -> str:
    """Return a README with `text` between the two comments for a model type.

    Raises
    ------
    SystemExit
        If the README has no such comments.
    """
    before, begin, rest = readme.partition(BEGIN.format(model_type))
    _, end, after = rest.partition(END)
    if not (begin and end):
        comments = f"{BEGIN.format(model_type)} and {END}"
        raise SystemExit(f"The README needs two comments around the table: {comments}.")
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


def write(path: Path) -> None:
    """Write the tables and the figure into the folder of a file of results."""
    results = Store(path).results
    figure = path.with_suffix(".svg")
    plot.draw_to(figure, results)
    path.with_suffix(".md").write_text(document(results, figure.name if figure.is_file() else ""))


def _text(result: Result) -> list[str]:
    size = result.size / 1e6
    return [result.title, f"{size:,.0f} MB" if size >= 10 else f"{size:.1f} MB"]


def _workers(count: int) -> str:
    return f"{count} worker{'s' if count > 1 else ''}"


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value >= 10 else f"{value:.2f} s"


def _ms(side: Measured) -> str:
    return f"{1000 * side.seconds:.0f} ms"


def _mib(value: float) -> str:
    return f"{value:,.0f} MiB"


def _busy(cost: Step | Run | None) -> str:
    if cost is None or cost.seconds < 0.005:
        return "-"
    return f"{cost.seconds:.2f} ({cost.cpu_seconds / cost.seconds:.1f})"


def _times(value: float) -> str:
    return f"{value:.1f}"


def _cost(side: Measured | None) -> str:
    return f"{_seconds(side.seconds)}, {_mib(side.mib)}" if side else "-"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables", description=__doc__)
    parser.add_argument("results", type=Path, help="file that benchmarks/run.py has written")
    parser.add_argument(
        "--readme", type=Path, help="also put the main table and the figure into this file"
    )
    given = parser.parse_args(argv)
    write(given.results)
    if given.readme:
        figure = given.results.with_suffix(".svg")
        shown = os.path.relpath(figure, given.readme.parent) if figure.is_file() else ""
        results = Store(given.results).results
        if not results:
            raise SystemExit(f"{given.results} holds no results.")
        text = summary(results, shown)
        readme = put_into(given.readme.read_text(), results[0].model_type, text)
        given.readme.write_text(readme)
    return 0


if __name__ == "__main__":
    sys.exit(main())
