"""Counts a text for later training runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from copy import copy
from typing import TYPE_CHECKING

from spmcompat.errors import BadValueError
from spmcompat.options.checks import verify
from spmcompat.options.from_counts import OPTIONS_OF_COUNTING, counting_options
from spmcompat.options.near_names import did_you_mean
from spmcompat.options.planning import plan_of
from spmcompat.options.settings import Settings, with_charsmaps
from spmcompat.options.table import OPTIONS
from spmcompat.plan import Plan
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.stored_counts.arrow import require_pyarrow, schema
from spmcompat.stored_counts.arrow_counter import ArrowCounter
from spmcompat.stored_counts.counting import check_order_is_free, count_source, origin_of
from spmcompat.stored_counts.origin import Origin
from spmcompat.stored_counts.table import CountTable
from spmcompat.text.sources import open_source, sample_sentences

if TYPE_CHECKING:
    import pyarrow as pa

    from spmcompat.text.arrow_producers import Sentences


def count_text(
    options: Mapping[str, object],
    settings: Settings,
    sentences: Sentences | None,
    report: Report,
    allow_empty: bool = False,
) -> tuple[Origin, Iterator[pa.RecordBatch]]:
    """Count a text as training would.

    Parameters
    ----------
    options : mapping
        The options that the user set, by name.
    settings : Settings
        The settings made from these options.
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
    settings = _with_rules(settings)
    plan = _plan(settings, sentences is not None, report)
    origin = origin_of(plan, counting_options(options, settings), settings.rules)
    workers = Workers(settings.workers)
    lines = open_source(plan.text, sentences, report, settings.column)
    source = sample_sentences(lines, plan.text, report)
    return count_source(plan, origin, source, workers, report, allow_empty)


def _with_rules(settings: Settings) -> Settings:
    """Return the settings with the rules from the rules file, because counts store these rules.

    Raises
    ------
    TrainingError
        If the file cannot be read.
    """
    path = settings.normalizer.normalization_rule_tsv
    if not path or settings.normalizer.precompiled_charsmap:
        return settings
    from spmcompat.normalization.charsmaps import load_rules  # noqa: PLC0415

    complete = copy(settings)
    complete.rules = load_rules(path, settings.release.code_points)
    return complete


def _plan(settings: Settings, has_sentences: bool, report: Report) -> Plan:
    """Check the settings, and return the plan for counting the text."""
    require_pyarrow()
    complete = with_charsmaps(settings)
    meta = verify(complete, has_sentences=has_sentences, has_writer=True)
    for note in settings.notes:
        report.warning(note)
    plan = plan_of(complete, [piece.piece for piece in meta.values()])
    # All model types can be trained from these counts. Some of them need the characters that follow
    # a pretoken, so these characters are always counted.
    return plan._replace(keeps_contexts=True)


def count_to_table(
    options: Mapping[str, object],
    settings: Settings,
    sentences: Sentences | None,
    report: Report,
    allow_empty: bool = False,
) -> CountTable:
    """Count a text as `count_text` does, and return the counts in memory."""
    origin, batches = count_text(options, settings, sentences, report, allow_empty)
    # Imported after `count_text`, which names what to install if pyarrow is missing.
    import pyarrow as pa  # noqa: PLC0415

    return CountTable(origin, pa.Table.from_batches([*batches], schema=schema()))


_OF_PARTS = {
    *(name for name in OPTIONS_OF_COUNTING if not OPTIONS[name].selects_text),
    "normalizer",
    "model_type",
    "minloglevel",
}
_OF_COUNT = {*OPTIONS_OF_COUNTING, *_OF_PARTS, "column", "strict", "workers"}


def refuse_options_of_texts(options: Iterable[str]) -> None:
    """Raise if one of the options cannot be used to count a text in parts.

    Raises
    ------
    BadValueError
        If there is such an option. The message names the option and gives the reason.
    """
    for name in options:
        if name in OPTIONS and OPTIONS[name].selects_text:
            raise BadValueError(
                f"{name} cannot be used here: each row of the data is a sentence. Select and "
                "convert the rows first."
            )
        if name == "workers":
            raise BadValueError(
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
    options: Mapping[str, object],
    settings: Settings,
    column: str,
    table_bytes: int,
    report: Report,
) -> ArrowCounter:
    """Return a counter for the parts of a text. The order of the lines is ignored.

    Parameters
    ----------
    options : mapping
        The options that the user set, by name.
    settings : Settings
        The settings made from these options.
    column : str
        The column of the text.
    table_bytes : int
        When the table of the counter reaches this size in bytes, the counter yields its rows.
    report : Report
        Receives warnings.

    Raises
    ------
    TrainingError
        If the options are wrong, or counting needs the order of the lines.
    """
    settings = _with_rules(settings)
    plan = _plan(settings, True, report)
    check_order_is_free(plan)
    origin = origin_of(plan, counting_options(options, settings), settings.rules)
    return ArrowCounter(plan._replace(keeps_pretokens=False), origin, column, table_bytes)
