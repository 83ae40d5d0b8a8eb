"""Counting a text apart from training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from spmcompat.options.checks import cautions, verify
from spmcompat.options.from_counts import counting_options
from spmcompat.options.planning import plan_of
from spmcompat.options.settings import Settings, with_charsmaps
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.stored_counts.arrow import require_pyarrow, schema
from spmcompat.stored_counts.counting import count_source
from spmcompat.stored_counts.origin import Origin
from spmcompat.stored_counts.table import CountTable
from spmcompat.text.sources import open_source, sample_sentences

if TYPE_CHECKING:
    import pyarrow as pa


def count_text(
    options: Mapping[str, object],
    settings: Settings,
    sentences: Iterable[str | bytes] | None,
    report: Report,
) -> tuple[Origin, Iterator[pa.RecordBatch]]:
    """Count a text as training would.

    Parameters
    ----------
    options : mapping
        The options that were given, by name.
    settings : Settings
        The same options as settings.
    sentences : iterable of str or bytes, optional
        The text, if it is not read from files.
    report : Report
        Receives log lines and progress.

    Returns
    -------
    origin : Origin
        What the counts are made from.
    batches : iterator of pyarrow.RecordBatch
        The rows.

    Raises
    ------
    TrainingError
        If the text cannot be counted.
    """
    require_pyarrow()
    complete = with_charsmaps(settings)
    meta = verify(complete, has_sentences=sentences is not None, has_writer=True)
    for caution in [*settings.notes, *cautions(settings)]:
        report.warning(caution)
    workers = Workers(settings.workers)
    plan = plan_of(complete, [piece.piece for piece in meta.values()])
    source = sample_sentences(open_source(plan.text, sentences, report), plan.text, workers, report)
    # All model types are trained from the same counts, so they always keep what follows a pretoken.
    plan = plan._replace(keeps_contexts=True)
    return count_source(plan, counting_options(options, settings), source, workers, report)


def count_to_table(
    options: Mapping[str, object],
    settings: Settings,
    sentences: Iterable[str | bytes] | None,
    report: Report,
) -> CountTable:
    """Count a text as `count_text` does, and return the counts in memory."""
    import pyarrow as pa  # noqa: PLC0415

    origin, batches = count_text(options, settings, sentences, report)
    return CountTable(origin, pa.Table.from_batches([*batches], schema=schema()))
