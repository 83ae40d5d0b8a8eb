"""Reads the text of a source and counts it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import closing
from typing import Any

from spmcompat.counting.counts import Counter as WorkerCounter
from spmcompat.counting.counts import Counts, SentenceRules
from spmcompat.counting.retention import SentenceLog
from spmcompat.errors import ReadOnceError, TooLargeError, TrainingError
from spmcompat.plan import Plan, TextPlan
from spmcompat.runtime.context import Context
from spmcompat.runtime.progress import Report
from spmcompat.runtime.threads import return_freed_memory
from spmcompat.runtime.workers import Workers
from spmcompat.text.formats import RECORDS
from spmcompat.text.lines import LineFilter
from spmcompat.text.opening import format_of_path
from spmcompat.text.skipped import Skipped
from spmcompat.text.sources import Buffer, LineFacts, Source


class NoSentenceError(TrainingError):
    """No line of the text is a sentence."""

    kind = "empty-corpus"


class StrictError(TrainingError):
    """The option ``strict`` refuses the text."""

    kind = "strict"


MOST_SKIPPED = 0.01
"""The share of lines or bytes that may be skipped with the option `strict`."""


class _Reader:
    """The counters of all workers for one plan, and a log of all sentences that were read."""

    def __init__(
        self, plan: Plan, workers: Workers, can_read_again: bool, must_keep: bool = False
    ) -> None:
        rules = SentenceRules(plan, workers.cancel)
        self._plan = plan
        self._counters = [WorkerCounter(worker, rules) for worker in range(workers.count)]
        self._filters = [LineFilter(plan.text) for _ in range(workers.count)]
        self._log = SentenceLog(plan, can_read_again, must_keep)
        self._bytes = [0] * workers.count
        self._nulls = [0] * workers.count

    def count(self, worker: int, index: int, buffer: Buffer) -> None:
        keep = self._log.keeps_pretokens
        batch = self._counters[worker].count(index, buffer, self._filters[worker], keep)
        self._log.add(index, batch)
        self._bytes[worker] += buffer.size
        self._nulls[worker] += buffer.nulls

    def facts(self, skipped: Skipped) -> LineFacts:
        return LineFacts.of(self._filters, sum(self._bytes), sum(self._nulls), skipped)

    def surprises(self) -> dict[str, Any]:
        found: Counter[str] = Counter()
        for counter in self._counters:
            found.update(counter.surprises)
        return found

    def counts(self) -> Counts:
        log = self._log
        return Counts(self._plan, self._counters, log.in_order(), log.keeps_pretokens)


def read_counts(plan: Plan, source: Source, context: Context, allow_empty: bool = False) -> Counts:
    """Read, normalize and count all sentences.

    Parameters
    ----------
    plan : Plan
        How the text is read and what is kept.
    source : Source
        The text.
    context : Context
        The worker threads, whose number never changes the result, and the report.
    allow_empty : bool
        Whether the text may contain no sentence.

    Raises
    ------
    TrainingError
        If the text cannot be read or contains no sentence.
    """
    return_freed_memory()
    can_read_again = not source.why_once()
    readers = [_Reader(one, context.workers, can_read_again) for one in _plans(plan)]
    sampled = source.facts()
    name = "Reading" if sampled is None else "Reading the sample"
    with (
        context.report.stage(name, source.size(), "bytes") as stage,
        closing(iter(source)) as buffers,
    ):

        def work(worker: int, task: tuple[int, Buffer]) -> None:
            index, buffer = task
            for reader in readers:
                reader.count(worker, index, buffer)
            stage.advance(buffer.input_size)

        context.workers.feed(enumerate(buffers), work)
    facts = sampled or readers[0].facts(source.skipped())
    facts = facts._replace(**readers[0].surprises())
    _report_lines(facts, plan.text, context.report)
    if facts.lines == 0 and not allow_empty:
        raise no_sentence()
    return _merge(plan, readers, facts, context)


def read_pretokens_again(plan: Plan, source: Source, context: Context) -> Counts:
    """Read a text again, and keep the pretokens of every sentence.

    The parameters are those of `read_counts`, which has already read the source once.

    Raises
    ------
    TrainingError
        If the source can be read only once.
    """
    if why := source.why_once():
        raise ReadOnceError(
            "The first part of the text has enough spaces for character_coverage to include U+2581 "
            "(the space mark), but the whole text does not. So the text has to be read again, but "
            f"{why}. Write the text to a file, or add U+2581 to required_chars."
        )
    return_freed_memory()
    readers = [_Reader(one, context.workers, True, must_keep=True) for one in _plans(plan)]
    with context.report.stage("Reading again", len(source), "buffers") as stage:

        def work(worker: int, task: tuple[int, Callable[[], Buffer]]) -> None:
            index, load = task
            buffer = load()
            for reader in readers:
                reader.count(worker, index, buffer)
            stage.advance()

        context.workers.feed(source.again(range(len(source))), work)
    facts = source.facts() or readers[0].facts(source.skipped())
    return _merge(plan, readers, facts, context)


def _plans(plan: Plan) -> list[Plan]:
    """Return the plan and, if seeding reads the text by different rules, that of seeding."""
    return [plan] if plan.seeds is None else [plan, plan.seeds]


def _merge(plan: Plan, readers: list[_Reader], facts: LineFacts, context: Context) -> Counts:
    """Return the merged counts. The counts for seeding are merged later, when they are needed."""
    counts = readers[0].counts()
    counts.facts = facts
    for reader in readers[1:]:
        counts.seeds = reader.counts()
    readers.clear()
    if plan.counting.keeps_contexts:
        context.report.step("Merging pretokens")
        counts.merge(context.workers)
    return counts


def no_sentence() -> TrainingError:
    """Return the error for a text without sentences."""
    return NoSentenceError(
        "The input contains no sentence: every line is empty, too long or broken, or contains "
        "U+2585. Check --input and --max_sentence_length."
    )


def too_many_characters() -> TrainingError:
    """Return the error for counts whose sum is too large for ``sentencepiece``.

    For such counts, the behaviour of ``sentencepiece`` is undefined, because it adds up signed
    64-bit integers. Release 0.2.3 fails if the sum wraps to less than 1, and otherwise trains on
    wrong counts.
    """
    return TooLargeError(
        "INTERNAL: (all_chars_count) > (0): the counts of the text add up to 2**63 characters or "
        "more, which sentencepiece cannot count. Divide all counts by the same number."
    )


def _account(facts: LineFacts, text: TextPlan) -> str:
    """Return a message that says how many lines were used and how many were skipped."""
    kinds = {
        "empty": facts.empty,
        "too long": facts.too_long,
        "with U+2585": facts.reserved,
        "null": facts.nulls,
        "broken": facts.broken,
    }
    lines = facts.lines + sum(kinds.values())
    # With a sample, the number of lines of only white space is not known, because only the sampled
    # sentences are normalized.
    if not text.input_sentence_size:
        kinds = {"of only white space": facts.blank, **kinds}
    used = lines - sum(kinds.values())
    found = [f"{number} {kind}" for kind, number in kinds.items() if number]
    after = f" (after {facts.divided} were split into {facts.parts})" if facts.divided else ""
    return f"Of {lines} lines{after}: {', '.join([f'{used} used', *found])}."


def _warnings(facts: LineFacts, text: TextPlan) -> dict[str, str]:
    """Return a sentence for each kind of line that was skipped or is probably not text."""

    def first(kind: str) -> str:
        return f"; the first: {facts.places[kind]}" if kind in facts.places else ""

    found = {}
    if facts.too_long > facts.huge:
        found["too_long"] = _too_long(facts, text, first("too_long"))
    if facts.huge:
        from spmcompat.text.line_buffers import record_limit  # noqa: PLC0415

        found["huge"] = (
            f"Skipped {facts.huge} records of more than {record_limit(text)} bytes, the larger of "
            f"16 MiB and 8 times --max_sentence_length (raise it to train on them{first('huge')})."
        )
    if facts.reserved:
        found["reserved"] = (
            f"Skipped {facts.reserved} sentences that contain the reserved character U+2585 "
            f"(replace it to train on them{first('reserved')})."
        )
    if facts.nulls:
        found["nulls"] = f"Skipped {facts.nulls} rows that are null."
    if facts.broken:
        found["broken"] = (
            f"Skipped {facts.broken} records that cannot be read (--skip_bad_records). The first: "
            f"{facts.first_broken}"
        )
    if facts.nul:
        found["nul"] = (
            f"{facts.nul} sentences contain NUL characters, as binary files and UTF-16 do "
            "(leave binary files out; convert UTF-16 with iconv -f UTF-16LE -t UTF-8"
            f"{first('nul')})."
        )
    if facts.malformed:
        found["malformed"] = not_utf8(facts.malformed, first("malformed"))
    return found


def _refused(warnings: dict[str, str], facts: LineFacts) -> list[str]:
    """Return the warnings that are errors with the option `strict`."""
    skipped = facts.too_long + facts.reserved + facts.nulls + facts.broken
    # The size of the text is not known if there is a sample.
    share_of_bytes = facts.too_long_bytes / facts.bytes_read if facts.bytes_read else 0
    if max(share_of_bytes, skipped / max(facts.lines + skipped, 1)) > MOST_SKIPPED:
        return [*warnings.values()]
    return [warning for kind, warning in warnings.items() if kind in ("nul", "malformed")]


def not_utf8(sentences: int, place: str = "") -> str:
    """Return the warning about sentences that are not UTF-8."""
    return (
        f"{sentences} sentences contain bytes that are not UTF-8, which become U+FFFD (convert the "
        f"input with iconv -f ENCODING -t UTF-8{place})."
    )


def _too_long(facts: LineFacts, text: TextPlan, place: str) -> str:
    """Return the warning about sentences or words that were skipped because they are too long."""
    kind, remedy = "sentences", "raise --max_sentence_length, or give --long_sentences=split,"
    formats = {
        format_of_path(one, text.input_format, bool(text.input_column)) for one in text.input
    }
    if not text.split_lines and not formats.isdisjoint(RECORDS):
        remedy = "raise --max_sentence_length, or give --split_lines or --long_sentences=split,"
    if text.splits_long:
        kind, remedy = "words", "raise --max_sentence_length"
    share = ""
    if facts.bytes_read:
        share = f", {facts.too_long_bytes / facts.bytes_read:.2%} of the text"
    return (
        f"Skipped {facts.too_long - facts.huge} too long {kind} with {facts.too_long_bytes} bytes"
        f"{share} (over {text.max_sentence_length} bytes; {remedy} to train on them{place})."
    )


def _report_lines(facts: LineFacts, text: TextPlan, report: Report) -> None:
    """Report the numbers of used and skipped lines, with a warning for each problem.

    Raises
    ------
    TrainingError
        If the counts are too large, or the option `strict` does not allow a problem.
    """
    report.info(f"Loaded all {facts.lines} sentences")
    report.info(_account(facts, text))
    warnings = _warnings(facts, text)
    refused = _refused(warnings, facts) if text.strict else []
    for warning in warnings.values():
        if warning not in refused:
            report.warning(warning)
    if refused:
        raise StrictError(f"{' '.join(refused)} Leave strict out to train on this text.")
    # `huge_characters` includes sentences that are not in the sample, so it is not used if there is
    # a sample. The counts of a sample are checked when the alphabet is chosen.
    if not text.input_sentence_size and facts.huge_characters >= 2**64:
        raise too_many_characters()
