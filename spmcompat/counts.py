"""Counts a text for later training runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import TYPE_CHECKING

from spmcompat.errors import BadValueError, ConflictError
from spmcompat.options.from_counts import OPTIONS_OF_COUNTING
from spmcompat.options.job import CountingJob
from spmcompat.options.near_names import did_you_mean
from spmcompat.options.table import OPTIONS
from spmcompat.runtime.context import Context
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.stored_counts.arrow import schema
from spmcompat.stored_counts.arrow_counter import ArrowCounter
from spmcompat.stored_counts.counting import check_order_is_free, count_source
from spmcompat.stored_counts.origin import Origin
from spmcompat.stored_counts.table import CountTable
from spmcompat.text.sources import open_source, sample_sentences

if TYPE_CHECKING:
    import pyarrow as pa

    from spmcompat.text.arrow_producers import Sentences


def count_text(
    job: CountingJob, sentences: Sentences | None, report: Report, allow_empty: bool = False
) -> tuple[Origin, Iterator[pa.RecordBatch]]:
    """Count a text as training would.

    Parameters
    ----------
    job : CountingJob
        How to count.
    sentences : iterable of str or bytes, or Arrow data, optional
        The text, unless it is read from files.
    report : Report
        Receives log lines and progress.
    allow_empty : bool
        Whether the text may contain no sentence. The table then has no rows.

    Returns
    -------
    origin : Origin
        Which text was counted, and with which options.
    batches : iterator of pyarrow.RecordBatch
        The rows.

    Raises
    ------
    TrainingError
        If the text cannot be counted.
    """
    _warn(job, report)
    context = Context(Workers(job.workers), report)
    lines = open_source(job.plan.text, sentences, report, job.column)
    source = sample_sentences(lines, job.plan.text, report)
    return count_source(job.plan, job.origin, source, context, allow_empty)


def _warn(job: CountingJob, report: Report) -> None:
    for warning in job.warnings:
        report.warning(warning)


def count_to_table(
    job: CountingJob, sentences: Sentences | None, report: Report, allow_empty: bool = False
) -> CountTable:
    """Count a text as `count_text` does, and return the counts in memory."""
    import pyarrow as pa

    origin, batches = count_text(job, sentences, report, allow_empty)
    return CountTable(origin, pa.Table.from_batches([*batches], schema=schema()))


_OF_PARTS = {
    *(name for name in OPTIONS_OF_COUNTING if not OPTIONS[name].selects_text),
    "normalizer",
    "model_type",
    "minloglevel",
}
_OF_COUNT = {*OPTIONS_OF_COUNTING, *_OF_PARTS, "column", "progress", "strict", "workers"}


def refuse_options_of_texts(options: Iterable[str]) -> None:
    """Raise if one of the options cannot be used to count a text in parts.

    Raises
    ------
    BadValueError
        If there is such an option. The message names the option and gives the reason.
    """
    for name in options:
        if name in OPTIONS and OPTIONS[name].selects_text:
            raise ConflictError(
                f"{name} cannot be used here: each row of the data is a sentence. Select and "
                "convert the rows first."
            )
        if name == "workers":
            raise ConflictError(
                "workers cannot be used here: the engine decides how many parts are counted at the "
                "same time."
            )
    refuse_options_of_training(options, _OF_PARTS)


def refuse_options_of_training(options: Iterable[str], known: Set[str] = _OF_COUNT) -> None:
    """Raise a `BadValueError` that names the first option that counting does not use, if any."""
    for name in options:
        if name not in known:
            raise BadValueError(
                f"{name} is not an option for counting.{did_you_mean(name, known)} "
                "spmcompat count --help lists the options; pass other options to training."
            )


def counter_of_parts(
    job: CountingJob, column: str, table_bytes: int, report: Report
) -> ArrowCounter:
    """Return a counter for the parts of a text. The order of the lines is ignored.

    Parameters
    ----------
    job : CountingJob
        How to count.
    column : str
        The column of the text.
    table_bytes : int
        When the table of the counter reaches this size in bytes, the counter yields its rows.
    report : Report
        Receives warnings.

    Raises
    ------
    TrainingError
        If counting needs the order of the lines.
    """
    _warn(job, report)
    check_order_is_free(job.plan)
    return ArrowCounter(job.plan, job.origin, column, table_bytes)
