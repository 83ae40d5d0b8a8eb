"""Results as Markdown: ``python -m benchmarks.tables RESULTS.json [--page FILE] [--readme FILE]``.

All tables and the figure are written to the folder of RESULTS.json. Most tables and the figure can
also be put into a page of the documentation, and a table of five rows into the README. The page and
the README each contain two comments, and the text between the comments is replaced.
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
SHORT = "{}, five rows"
"""The name of a section of the README, by model type."""

OTHERS = (
    "Other trainers make models of the same size from the same text, but [not the same "
    "models](../benchmarks/README.md#other-trainers). If a trainer failed, it has a dash or no row."
)
"""What the page says above the table of other trainers."""

FIVE = ("en-books", "code", "de", "zh-laws", "long-lines")
"""The rows in the README: a large text, code, two languages, and the text with the least gain."""


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table that is also readable as plain text, or "" if `lines` is empty."""
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
    """The costs of sentencepiece and spmcompat with the same number of threads."""
    pairs = [(r, r.reference) for r in results if r.reference and r.is_compared]
    version = pairs[0][1].label if pairs else ""
    counts = sorted({n for r, _ in pairs for n in r.by_workers if n != r.threads})
    head = ["text", "size", version, "spmcompat", "times faster"]
    head += [f"spmcompat, {_workers(count)}" for count in counts]
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
    return table([*head, "their memory", "our memory", "times less"], lines)


def five_rows(results: Iterable[Result]) -> str:
    """Time and memory of sentencepiece and spmcompat on the texts of the README."""
    pairs = [(r, r.reference) for r in results if r.reference and r.name in FIVE]
    version = pairs[0][1].label if pairs else ""
    return table(
        ["text", "size", version, "spmcompat", "times faster", "times less memory"],
        (
            [
                *_text(result),
                _cost(theirs),
                _cost(result.ours),
                _times(theirs.seconds / result.ours.seconds),
                _times(theirs.mib / result.ours.mib),
            ]
            for result, theirs in pairs
        ),
    )


def by_workers(results: Iterable[Result]) -> str:
    """The costs of spmcompat with different numbers of worker threads, for the same models."""
    results = [result for result in results if len(result.by_workers) > 1]
    counts = sorted({count for result in results for count in result.by_workers})
    return table(
        ["text", "size", *map(_workers, counts)],
        ([*_text(r), *(_cost(r.by_workers.get(count)) for count in counts)] for r in results),
    )


def all_sides(results: Iterable[Result]) -> str:
    """The costs of all trainers on the same texts.

    The models of other trainers have the same number of pieces, but different pieces.
    """
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
    """The costs of spmcompat on one text, and on several shuffled copies of it."""
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
    """The times for importing the package, and for training 2,000 pieces on a small text."""
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
    return table(["what", "spmcompat from", "sentencepiece", "spmcompat", "share"], lines)


def stages(results: Iterable[Result]) -> str:
    """Seconds of each step of spmcompat and, in brackets, the number of cores that it used."""
    runs = {r: r.stages.fastest for r in results if r.stages}
    costs = [{step.name: step for step in run.steps} for run in runs.values()]
    names = dict.fromkeys(name for steps in costs for name in steps)
    lines = [[name, *(_busy(steps.get(name)) for steps in costs)] for name in names]
    whole = ["whole process", *map(_busy, runs.values())]
    shown = [line for line in (*lines, whole) if set(line[1:]) != {"-"}]
    return table(["step", *(result.name for result in runs)], shown if runs else [])


def setting(results: Sequence[Result]) -> str:
    """Return a description of the conditions under which the results were measured."""
    if not results:
        return "Nothing was measured."
    trained = [result for result in results if result.is_compared]
    parts = []
    if trained:
        first = trained[0]
        runs = min(len(result.ours.runs) for result in trained)
        shown = f"the lowest time and memory of {runs} runs" if runs > 1 else "one run"
        parts.append(
            f"{first.options['vocab_size']:,} pieces, `hard_vocab_limit=False`; both sides with "
            f"`num_threads={first.threads}`, spmcompat with `workers={first.threads}`. Each run is "
            f"a new process, and the two sides take turns; the tables show {shown} of each side."
        )
    if results[0].scale != 1:
        parts.append(f"Only {results[0].scale:.0%} of each text: these figures prove nothing.")
    parts.append(machine(results))
    return " ".join(parts)


def machine(results: Sequence[Result]) -> str:
    """Return where and when the results were measured."""
    one = results[0].machine
    loads = [result.machine["load"][0] for result in results]
    days = sorted(result.day for result in results)
    return (
        f"Machine: {one['processor']}, {one['cores']} cores, {one['memory_gib']} GiB, "
        f"{one['system']}, Python {one['python']}, load {min(loads)} to {max(loads)}, "
        f"{' to '.join(dict.fromkeys([days[0], days[-1]]))}."
    )


SECTIONS = (
    ("Time and memory", compared),
    ("Other trainers", all_sides),
    ("Workers", by_workers),
    ("More text, the same words", growth),
    ("Start-up", start),
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


def page_section(results: Sequence[Result], figure: str = "") -> str:
    """Return the section about one model type for the documentation page."""
    texts = [result for result in results if result.is_in("corpora") or result.is_in("public")]
    shown = f"![Time and memory against size]({figure})" if figure else ""
    parts = [shown, setting(texts), compared(texts), growth(results)]
    if others := all_sides(texts):
        parts += [OTHERS, others]
    return "\n\n".join(filter(None, parts))


def put_into(page: str, name: str, text: str) -> str:
    """Return a page with `text` between the marks of a section.

    Raises
    ------
    SystemExit
        If the page has no such marks.
    """
    before, begin, rest = page.partition(BEGIN.format(name))
    _, end, after = rest.partition(END)
    if not (begin and end):
        marks = f"{BEGIN.format(name)} and {END}"
        raise SystemExit(f"The page needs two comments around the table: {marks}.")
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


def write(path: Path) -> None:
    """Write the tables and the figure beside a file of results."""
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
    parser.add_argument("results", type=Path)
    parser.add_argument("--page", type=Path, help="put main tables and figure into this page")
    parser.add_argument("--readme", type=Path, help="put the table of five rows into this README")
    arguments = parser.parse_args(argv)
    results = Store(arguments.results).results
    if not results:
        raise SystemExit(f"{arguments.results} does not contain results.")
    write(arguments.results)
    model_type = results[0].model_type
    if arguments.page:
        figure = arguments.results.with_suffix(".svg")
        shown = os.path.relpath(figure, arguments.page.parent) if figure.is_file() else ""
        text = page_section(results, shown)
        arguments.page.write_text(put_into(arguments.page.read_text(), model_type, text))
    if arguments.readme:
        name = SHORT.format(model_type)
        shown = f"{five_rows(results)}\n\n{machine([r for r in results if r.name in FIVE])}"
        readme = put_into(arguments.readme.read_text(), name, shown)
        arguments.readme.write_text(readme)
    return 0


if __name__ == "__main__":
    sys.exit(main())
