"""The commands ``spmcompat counts merge`` and ``counts show``, and `merge_counts`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TextIO

from spmcompat.cli.flags import PROGRESS, QUIET, Command, Flag, from_python
from spmcompat.cli.tables import table
from spmcompat.engine import FLOAT, UINT64, naming_keywords
from spmcompat.errors import ConflictError, CountsMismatchError, UsageError, printable

if TYPE_CHECKING:
    import pyarrow as pa

    from spmcompat.engine import CountTable, Progress, StrPath, WordTable
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
                "bytes",
                "Give each text this many bytes: its weight becomes this number divided by the "
                "size of its words. Only for the words of spmcompat count --like.",
                metavar="N,N",
                many=True,
            ),
            Flag(
                "min_count",
                "Drop pretokens or words that occur less often than this. Models then differ from "
                "those of the whole text; the share of the text that is dropped is stored and "
                "shown.",
                UINT64,
                default=1,
                least=1,
                most=2**62 - 1,
            ),
            QUIET,
            PROGRESS,
        ],
        required=[("output",)],
        exclusive=[("weights", "temperature"), ("weights", "bytes"), ("temperature", "bytes")],
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

    contents, changes = _merged(given, Report(2 if given.quiet else 0, stderr, given.progress))
    if given.quiet:
        return
    stdout.write(f"{given.output}: the counts of {contents}\n")
    stdout.writelines(f"  {printable(change)}\n" for change in changes)


def merge_counts(
    counts: Sequence[CountTable | StrPath],
    *,
    output: StrPath,
    weights: Sequence[float] | None = None,
    temperature: float | None = None,
    min_count: int = 1,
    minloglevel: int = 0,
    progress: Progress = "bar",
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
    progress : {'bar', 'json'}, default 'bar'
        How to show the progress, as for `train`.
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
    from spmcompat.engine import load_counts, open_counts

    values = {"weights": weights, "temperature": temperature, "min_count": min_count}
    with naming_keywords():
        _merge_from_python(counts, open_counts, output, values, (minloglevel, logstream, progress))
        return load_counts(output)


def merge_words(
    words: Sequence[WordTable | StrPath],
    *,
    output: StrPath,
    weights: Sequence[float] | None = None,
    temperature: float | None = None,
    bytes: Sequence[int] | None = None,
    min_count: int = 1,
    minloglevel: int = 0,
    progress: Progress = "bar",
    logstream: TextIO | None = None,
) -> WordTable:
    """Merge the words of several texts into the words of all of them, in a file.

    The words are in memory while they are merged. Without weights, ``a + b`` and ``sum(tables)`` do
    the same.

    Parameters
    ----------
    words : sequence of WordTable or path
        The words.
    output : path
        The file to write.
    weights : sequence of float
        How often to repeat each text. Weighted counts are rounded to the nearest whole number,
        halves up; counts that become 0 are dropped.
    temperature : float
        An exponent from 0 to 1, instead of `weights`: the new share of each text is proportional to
        p to this power, where p is its share of the bytes.
    bytes : sequence of int
        How many bytes each text gets, instead of `weights`.
    min_count : int
        Drop words that occur less often than this.
    minloglevel : int
        0 shows all messages, 1 warnings and errors, 2 errors only.
    progress : {'bar', 'json'}, default 'bar'
        How to show the progress, as for `train`.
    logstream : text stream
        Where to write messages; by default standard error, or the program's own logging.

    Returns
    -------
    WordTable
        The merged words.

    Raises
    ------
    TrainingError
        If the words were cut in different ways, an argument is wrong, or a file cannot be read or
        written.
    """
    from spmcompat.engine import open_words

    values = {
        "weights": weights,
        "temperature": temperature,
        "bytes": bytes,
        "min_count": min_count,
    }
    with naming_keywords():
        _merge_from_python(words, open_words, output, values, (minloglevel, logstream, progress))
        return open_words(output)


def _merge_from_python(
    counts: Any,
    open_one: Callable[[object], object],
    output: StrPath,
    values: Mapping[str, object],
    log: tuple[int, TextIO | None, Progress],
) -> None:
    """Merge tables of one kind as the command does."""
    from spmcompat.runtime.progress import Report

    is_one = isinstance(counts, str) or not isinstance(counts, Iterable)
    tables = [open_one(one) for one in ([counts] if is_one else counts)]
    flags = {
        name: [*map(str, value)] if isinstance(value, Iterable) else value
        for name, value in values.items()
    }
    given = from_python(merging(), map(str, tables), flags | {"output": output, "progress": log[2]})
    given.arguments = tables  # replaces the strings
    _merged(given, Report(*log))


def _merged(given: SimpleNamespace, report: Report) -> tuple[str, tuple[str, ...]]:
    """Merge counts. Return what the merged counts contain, and how they were changed."""
    from spmcompat.engine import Merging, merge_word_tables, open_counts, tempered, write_counts
    from spmcompat.runtime.outputs import check_output, refuse_inputs

    weights = _numbers("weights", given) if given.weights else None
    sizes = _numbers("bytes", given) if given.bytes else None
    words = [table for one in given.arguments if (table := _words(one)) is not None]
    if words and len(words) != len(given.arguments):
        raise CountsMismatchError(
            "Some of the files contain words, and others pretokens. Merge files of one kind."
        )
    tables = [] if words else [open_counts(one) for one in given.arguments]
    check_output(given.output, "--output")
    opened: list[CountTable | WordTable] = [*words, *tables]
    inputs = [path for one in opened for path in one.files]
    refuse_inputs([given.output], inputs, "--output")
    if sizes and not words:
        raise ConflictError("--bytes is for words, from spmcompat count --like: leave it out.")
    if sizes or given.temperature is not None:
        present = [one.sums()[1] for one in words] or [one.sentences for one in tables]
        if sizes:
            weights = [new / max(old, 1) for new, old in zip(sizes, present, strict=True)]
        else:
            weights = tempered(present, given.temperature)
    if words:
        report.step("Merging")
        merged = merge_word_tables(words, weights, given.min_count)
        merged.save(given.output)
        return f"{merged.sums()[0]:,} words", merged.origin.changes
    merging = Merging(tables, weights, given.min_count)
    with report.stage("Merging", unit="rows") as stage:
        write_counts(given.output, merging.origin, _reported(merging, stage))
    origin = merging.origin()
    return f"{origin.sentences:,} sentences", origin.changes


def _words(counts: object) -> WordTable | None:
    """Return a table of words, or the one at a path; None if this is something else."""
    from spmcompat.engine import WordTable, load_words

    if isinstance(counts, WordTable):
        return counts
    return load_words(counts) if isinstance(counts, str | os.PathLike) else None


def _reported(batches: Iterable[pa.RecordBatch], stage: Stage) -> Iterator[pa.RecordBatch]:
    """Yield the batches, and report the number of rows as progress."""
    for batch in batches:
        yield batch
        stage.advance(batch.num_rows)


def _numbers(name: str, given: SimpleNamespace) -> list[Fraction]:
    """Return the values of a flag that takes a number for each file."""
    parts, tables = getattr(given, name), len(given.arguments)
    try:
        numbers = [Fraction(part) for part in parts]
    except (ValueError, ZeroDivisionError):
        numbers = []
    if len(numbers) != tables or not 0 < min(numbers) <= max(numbers) < 2**62:
        raise UsageError(
            f"--{name} takes one number above 0 for each of the {tables} files, not "
            f"{','.join(parts)!r}."
        )
    return numbers


def _show(given: SimpleNamespace, stdout: TextIO, _: TextIO) -> None:
    from spmcompat.engine import load_counts

    shown = []
    for path in given.arguments:
        words = _words(path)
        shown.append(_facts(load_counts(path)) if words is None else _facts_of_words(words))
    stdout.write("\n\n".join("\n".join(lines) for lines in shown) + "\n")


def _facts_of_words(counts: WordTable) -> list[str]:
    words, size = counts.sums()
    rows = [
        ("distinct words", f"{len(counts):,}"),
        ("words", f"{words:,}"),
        ("bytes", f"{size:,}"),
        *(
            (name, printable(json.dumps(value, ensure_ascii=False)))
            for name, value in counts.origin.splitting.items()
        ),
        *(("changed", printable(change)) for change in counts.origin.changes),
    ]
    _, *lines = table(("", ""), rows, left=2)
    return [counts.name, *lines]


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
