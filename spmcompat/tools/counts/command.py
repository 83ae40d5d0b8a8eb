"""The command ``spmcompat counts``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TextIO

from spmcompat.cli.process import run_command
from spmcompat.cli.table import table
from spmcompat.errors import BadValueError, printable

if TYPE_CHECKING:
    import pyarrow as pa

    from spmcompat.runtime.progress import Stage
    from spmcompat.stored_counts.table import CountTable


def main(argv: Sequence[str], stdout: TextIO | None = None, stderr: TextIO | None = None) -> int:
    """Run ``spmcompat counts`` and return its exit status."""
    out = sys.stdout if stdout is None else stdout
    err = sys.stderr if stderr is None else stderr
    arguments = _parser().parse_args(argv)
    return run_command("spmcompat counts", lambda: _run(arguments, out, err), err)


def _run(arguments: argparse.Namespace, stdout: TextIO, stderr: TextIO) -> None:
    run: Callable[[argparse.Namespace, TextIO, TextIO], None] = arguments.run
    run(arguments, stdout, stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="spmcompat counts", description="Merges counts of texts, or shows them."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    merging = commands.add_parser(
        "merge",
        help="merge counts into one file",
        description="Merges the counts of several texts into the counts of the concatenated texts. "
        "This needs little memory, however large the files are.",
    )
    merging.add_argument("counts", nargs="+", metavar="FILE", help="counts, in the order of texts")
    merging.add_argument("--output", required=True, metavar="FILE", help="where to write")
    weights = merging.add_mutually_exclusive_group()
    weights.add_argument(
        "--weights",
        metavar="W,W",
        help="the weight of each text, such as 1,2.5. Weighted counts are rounded to the nearest "
        "whole number, halves up; counts that become 0 are dropped",
    )
    weights.add_argument(
        "--temperature",
        metavar="A",
        help="give each text a share proportional to p^A, where p is its share of the sentences "
        "and A is from 0 to 1",
    )
    merging.add_argument(
        "--min_count",
        default="1",
        metavar="N",
        help="drop pretokens that occur less often. Models then differ from those of the whole "
        "text; the share of the text that is dropped is stored and shown",
    )
    merging.add_argument("--quiet", action="store_true", help="print only errors")
    merging.set_defaults(run=_merge)
    showing = commands.add_parser(
        "show",
        help="show where counts come from",
        description="Shows where counts come from, and what they contain.",
    )
    showing.add_argument("counts", nargs="+", metavar="FILE", help="counts")
    showing.set_defaults(run=_show)
    return parser


def _merge(arguments: argparse.Namespace, stdout: TextIO, stderr: TextIO) -> None:
    from spmcompat.runtime.outputs import check_output, refuse_inputs  # noqa: PLC0415
    from spmcompat.runtime.progress import Report  # noqa: PLC0415
    from spmcompat.stored_counts.merging import Merging, temperature_weights  # noqa: PLC0415
    from spmcompat.stored_counts.table import load_counts, write  # noqa: PLC0415

    tables = [load_counts(path) for path in arguments.counts]
    check_output(arguments.output, "--output")
    inputs = [path for one in tables for path in one.files]
    refuse_inputs([arguments.output], inputs, "--output")
    weights = _weights(arguments.weights, len(tables)) if arguments.weights else None
    if arguments.temperature:
        weights = temperature_weights(tables, _temperature(arguments.temperature))
    min_count = arguments.min_count
    if not (min_count.isascii() and min_count.isdecimal() and 0 < int(min_count) < 2**62):
        raise BadValueError(f"--min_count takes a whole number from 1, not {min_count!r}.")
    merging = Merging(tables, weights, int(min_count))
    report = Report(2 if arguments.quiet else 0, stderr)
    with report.stage("Merging", unit="rows") as stage:
        write(arguments.output, merging.origin, _told(merging, stage))
    if arguments.quiet:
        return
    origin = merging.origin()
    stdout.write(f"{arguments.output}: the counts of {origin.sentences:,} sentences\n")
    stdout.writelines(f"  {printable(change)}\n" for change in origin.changes)


def _told(batches: Iterable[pa.RecordBatch], stage: Stage) -> Iterator[pa.RecordBatch]:
    """Yield rows, and report their number."""
    for batch in batches:
        yield batch
        stage.advance(batch.num_rows)


def _weights(text: str, tables: int) -> list[Fraction]:
    parts = text.split(",")
    try:
        weights = [Fraction(part) for part in parts]
    except (ValueError, ZeroDivisionError):
        weights = []
    if (
        len(parts) != tables
        or len(weights) != tables
        or not 0 < min(weights) <= max(weights) < 2**62
    ):
        raise BadValueError(
            f"--weights takes one number above 0 for each of the {tables} files, not {text!r}."
        )
    return weights


def _temperature(text: str) -> float:
    try:
        alpha = float(text)
    except ValueError:
        alpha = -1.0
    if not 0 <= alpha <= 1:
        raise BadValueError(f"--temperature takes a number from 0 to 1, not {text!r}.")
    return alpha


def _show(arguments: argparse.Namespace, stdout: TextIO, _: TextIO) -> None:
    from spmcompat.stored_counts.table import load_counts  # noqa: PLC0415

    tables = [load_counts(path) for path in arguments.counts]
    stdout.write("\n\n".join("\n".join(_facts(one)) for one in tables) + "\n")


def _facts(counts: CountTable) -> list[str]:
    origin = counts.origin
    pretokens, occurrences, most_frequent = counts.summary()
    rows = [
        ("sentences", f"{origin.sentences:,}"),
        ("rows", f"{len(counts):,}"),
        ("distinct pretokens", f"{pretokens:,}"),
        ("pretokens", f"{occurrences:,}"),
        *([("bytes read", f"{origin.bytes_read:,}")] if origin.bytes_read else []),
        ("skipped, too long", f"{origin.too_long:,}"),
        ("skipped, with U+2585", f"{origin.reserved:,}"),
        *([("skipped, null", f"{origin.nulls:,}")] if origin.nulls else []),
        *([("skipped, broken", f"{origin.broken:,}")] if origin.broken else []),
        ("most frequent", printable(" ".join(most_frequent))),
        *((f"--{name}", printable(text)) for name, text in origin.options.items()),
        *(("changed", printable(change)) for change in origin.changes),
    ]
    _, *lines = table(("", ""), rows, left=2)
    return [counts.name, *lines]
