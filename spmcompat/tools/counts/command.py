"""The commands ``spmcompat counts merge`` and ``counts show``, and `merge_counts`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING, TextIO

from spmcompat.cli.flags import QUIET, Command, Flag, from_python
from spmcompat.cli.tables import table
from spmcompat.engine import FLOAT, UINT64, naming_keywords
from spmcompat.errors import UsageError, printable

if TYPE_CHECKING:
    import pyarrow as pa

    from spmcompat.engine import CountTable, Origin, StrPath
    from spmcompat.runtime.progress import Report, Stage


def merging() -> Command:
    """Return the description of ``spmcompat counts merge``."""
    return Command(
        "spmcompat counts merge",
        "Merges the counts of several texts into the counts of the concatenated texts. This needs "
        "little memory, however large the files are.",
        "FILE... --output=FILE [flags]",
        _merge,
        [
            Flag("output", "Where to write the counts.", metavar="FILE"),
            Flag(
                "weights",
                "The weight of each text, such as 1,2.5. Weighted counts are rounded to the "
                "nearest whole number, halves up; counts that become 0 are dropped.",
                metavar="W,W",
                many=True,
            ),
            Flag(
                "temperature",
                "Give each text a share proportional to p^A, where p is its share of the "
                "sentences.",
                FLOAT,
                metavar="A",
                least=0,
                most=1,
            ),
            Flag(
                "min_count",
                "Drop pretokens that occur less often than this. Models then differ from those of "
                "the whole text; the share of the text that is dropped is stored and shown.",
                UINT64,
                default=1,
                least=1,
                most=2**62 - 1,
            ),
            QUIET,
        ],
        required=[("output",)],
        exclusive=[("weights", "temperature")],
        positionals=("at least one file of counts is", 1, None),
    )


def showing() -> Command:
    """Return the description of ``spmcompat counts show``."""
    return Command(
        "spmcompat counts show",
        "Shows where counts come from, and what they contain.",
        "FILE...",
        _show,
        positionals=("at least one file of counts is", 1, None),
    )


def _merge(given: SimpleNamespace, stdout: TextIO, stderr: TextIO) -> None:
    from spmcompat.runtime.progress import Report

    origin = _merged(given, Report(2 if given.quiet else 0, stderr))
    if given.quiet:
        return
    stdout.write(f"{given.output}: the counts of {origin.sentences:,} sentences\n")
    stdout.writelines(f"  {printable(change)}\n" for change in origin.changes)


def merge_counts(
    counts: Sequence[CountTable | StrPath],
    *,
    output: StrPath,
    weights: Sequence[float] | None = None,
    temperature: float | None = None,
    min_count: int = 1,
    minloglevel: int = 0,
    logstream: TextIO | None = None,
) -> CountTable:
    """Merge the counts of several texts into the counts of the concatenated texts, in a file.

    This needs little memory, however large the files are. Small counts can also be merged in
    memory, with ``a + b`` or ``sum(tables)``.

    Parameters
    ----------
    counts : sequence of CountTable or path
        The counts.
    output : path
        The file to write.
    weights : sequence of float
        How often to repeat each text. Weighted counts are rounded to the nearest whole number,
        halves up; counts that become 0 are dropped.
    temperature : float
        An exponent from 0 to 1, instead of `weights`: the new share of each text is proportional to
        p to this power, where p is its share of the sentences.
    min_count : int
        Drop pretokens that occur less often than this.
    minloglevel : int
        0 shows all messages, 1 warnings and errors, 2 errors only.
    logstream : text stream
        Where to write messages; by default standard error, or the program's own logging.

    Returns
    -------
    CountTable
        The merged counts, whose rows are read from the file when they are needed.

    Raises
    ------
    TrainingError
        If the counts were made with different rules, an argument is wrong, or a file cannot be read
        or written.
    """
    from spmcompat.engine import load_counts
    from spmcompat.runtime.progress import Report

    is_one = isinstance(counts, str) or not isinstance(counts, Iterable)
    tables = [counts] if is_one else [*counts]
    values = {
        "output": output,
        "weights": None if weights is None else [*map(str, weights)],
        "temperature": temperature,
        "min_count": min_count,
    }
    with naming_keywords():
        given = from_python(merging(), map(str, tables), values)
        given.arguments = tables  # replaces the strings, because some tables may be objects
        _merged(given, Report(minloglevel, logstream))
        return load_counts(output)


def _merged(given: SimpleNamespace, report: Report) -> Origin:
    """Merge counts, and return the origin of the merged counts."""
    from spmcompat.engine import Merging, open_counts, temperature_weights, write_counts
    from spmcompat.runtime.outputs import check_output, refuse_inputs

    weights = _weights(given.weights, len(given.arguments)) if given.weights else None
    tables = [open_counts(one) for one in given.arguments]
    check_output(given.output, "--output")
    inputs = [path for one in tables for path in one.files]
    refuse_inputs([given.output], inputs, "--output")
    if given.temperature is not None:
        weights = temperature_weights(tables, given.temperature)
    merging = Merging(tables, weights, given.min_count)
    with report.stage("Merging", unit="rows") as stage:
        write_counts(given.output, merging.origin, _reported(merging, stage))
    return merging.origin()


def _reported(batches: Iterable[pa.RecordBatch], stage: Stage) -> Iterator[pa.RecordBatch]:
    """Yield the batches, and report the number of rows as progress."""
    for batch in batches:
        yield batch
        stage.advance(batch.num_rows)


def _weights(parts: Sequence[str], tables: int) -> list[Fraction]:
    try:
        weights = [Fraction(part) for part in parts]
    except (ValueError, ZeroDivisionError):
        weights = []
    if len(weights) != tables or not 0 < min(weights) <= max(weights) < 2**62:
        raise UsageError(
            f"--weights takes one number above 0 for each of the {tables} files, not "
            f"{','.join(parts)!r}."
        )
    return weights


def _show(given: SimpleNamespace, stdout: TextIO, _: TextIO) -> None:
    from spmcompat.engine import load_counts

    tables = [load_counts(path) for path in given.arguments]
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
