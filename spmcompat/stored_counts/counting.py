"""Counts a text and returns the rows of a table of counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from spmcompat.counting.counts import Counts
from spmcompat.counting.reading import no_sentence, read_counts
from spmcompat.counting.rows import RowReader
from spmcompat.errors import NeedsSentencesError
from spmcompat.normalization.rules import to_tsv
from spmcompat.plan import Plan
from spmcompat.runtime.context import Context
from spmcompat.runtime.workers import Workers
from spmcompat.stored_counts import arrow
from spmcompat.stored_counts.origin import LINE_FACTS, Origin, digest, rules_of, symbols_of
from spmcompat.text.sources import Source

if TYPE_CHECKING:
    import pyarrow as pa

    from spmcompat.normalization.rules import Rules


def check_order_is_free(plan: Plan, doing: str = "count") -> None:
    """Raise if the model depends on whole sentences or on their order: counts keep neither.

    Raises
    ------
    BadValueError
        If the model depends on one of these. The message states the reason and a remedy.
    """
    if plan.cutting.removed_delimiter:
        reason = (
            "this release of sentencepiece looks for the pretokenization_delimiter in whole "
            "sentences, after rare characters are replaced"
        )
    elif plan.counting.whole_sentences:
        reason = "with split_by_whitespace=false, pieces cross spaces and EM reads whole sentences"
    elif plan.seeds is not None:
        reason = (
            "this release of sentencepiece finds the seeds of a TSV in a different text than the "
            "one that EM reads"
        )
    elif plan.seeding.looks_at_text_end:
        reason = (
            "a Unigram model of this release of sentencepiece, unlike other models, depends on the "
            "last sentences"
        )
    else:
        return
    raise NeedsSentencesError(
        f"cannot {doing}: {reason}; counts do not contain sentences. Train from the text itself "
        "(--input)."
    )


def count_source(
    plan: Plan,
    origin: Origin,
    source: Source,
    context: Context,
    allow_empty: bool = False,
) -> tuple[Origin, Iterator[pa.RecordBatch]]:
    """Read a text and count it.

    Parameters
    ----------
    plan : Plan
        How the text is read; the result of `for_table`.
    origin : Origin
        The result of `origin_of`, which does not contain facts about the text yet.
    source : Source
        The text.
    context : Context
        The worker threads, whose number never changes the result, and the report.
    allow_empty : bool
        Whether a text without sentences is allowed. Its table has no rows.

    Returns
    -------
    origin : Origin
        The origin of the table.
    batches : iterator of pyarrow.RecordBatch
        The rows in order. The counts stay in memory until the last row.

    Raises
    ------
    TrainingError
        If the text cannot be read or has no sentences, or if `check_order_is_free` raises.
    """
    check_order_is_free(plan)
    counts = read_counts(plan, source, context, allow_empty)
    if counts.sentences == 0 and not allow_empty:  # every sentence is empty after normalization
        raise no_sentence()
    origin = origin._replace(
        sentences=counts.sentences,
        first_character=counts.first_character,
        **{name: getattr(counts.facts, name) for name in LINE_FACTS},
    )
    return origin, _rows(counts, context.workers)


def origin_of(plan: Plan, options: Mapping[str, str], rules: Rules | None) -> Origin:
    """Return the origin of counts, as far as it is known before the text is read.

    Parameters
    ----------
    plan : Plan
        How the text is read.
    options : mapping of str to str
        The options for reading and normalizing that the user set.
    rules : mapping, optional
        The normalization rules from the file that the options name.
    """
    names_file = bool(options.get("normalization_rule_tsv"))
    return Origin(
        options=dict(options),
        rules=rules_of(plan),
        charsmap=digest(plan.charsmap),
        symbols=symbols_of(plan),
        delimiter=plan.counting.delimiter.decode(),
        normalization_rules=to_tsv(rules) if names_file and rules else "",
    )


def _rows(counts: Counts, workers: Workers) -> Iterator[pa.RecordBatch]:
    for columns in RowReader(counts, workers):
        yield arrow.to_batch(columns)
