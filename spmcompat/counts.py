"""Counting a text apart from training: `count`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from spmcompat.options.checks import cautions, verify
from spmcompat.options.from_counts import counting_options
from spmcompat.options.planning import plan_of
from spmcompat.options.settings import Settings, with_charsmaps
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.stored_counts.counting import count_text
from spmcompat.stored_counts.origin import Origin
from spmcompat.text.sources import open_source, sample_sentences

if TYPE_CHECKING:
    import pyarrow as pa


def count(
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
    complete = with_charsmaps(settings)
    meta = verify(complete, has_sentences=sentences is not None, has_writer=True)
    for caution in [*settings.notes, *cautions(settings)]:
        report.warning(caution)
    workers = Workers(settings.workers)
    plan = plan_of(complete, [piece.piece for piece in meta.values()])
    source = sample_sentences(
        open_source(plan.text, sentences, report), plan.text, workers, report
    )
    # All model types are trained from the same counts, so they always keep what follows a pretoken.
    plan = plan._replace(keeps_contexts=True)
    return count_text(plan, counting_options(options, settings), source, workers, report)
