"""Reads the text of a source and counts its words."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing

from spmcompat.counting.reading import MOST_SKIPPED, StrictError
from spmcompat.plan import TextPlan
from spmcompat.runtime.context import Context
from spmcompat.runtime.progress import Report
from spmcompat.runtime.threads import return_freed_memory
from spmcompat.splitting.bert import BertOptions
from spmcompat.text.lines import ReadBuffer
from spmcompat.text.sources import Items, LineSource, empty_sample
from spmcompat.words.words import WordCounter, Words

_PLAIN = TextPlan()


def read_words(
    source: LineSource,
    scanner: str | BertOptions,
    adds_space: bool,
    context: Context,
    normalizes: bool = False,
    plan: TextPlan = _PLAIN,
) -> Words:
    """Read a text and count its words.

    Parameters
    ----------
    source : LineSource
        The text. Lines of files include their ends; items of an iterator do not. With a sample, it
        is what `sampled_texts` returned.
    scanner : str or BertOptions
        How texts are cut into words: a name from `spmcompat.splitting.expressions`, or the options
        of BERT.
    adds_space : bool
        Whether a text that does not begin with a space is read as if it did.
    context : Context
        The worker threads, whose number never changes the result, and the report.
    normalizes : bool, optional
        Whether texts are normalized with NFC before they are cut. BERT's own normalizer is used
        instead of it.
    plan : TextPlan, optional
        States whether problems of the text are errors (`strict`).

    Raises
    ------
    TrainingError
        If the text cannot be read, or is not well-formed UTF-8.
    """
    workers = context.workers
    counters = [WordCounter(scanner, adds_space, normalizes) for _ in range(workers.count)]
    with (
        context.report.stage("Reading", source.size(), "bytes") as stage,
        closing(buffers_of(source, plan, context.report)) as buffers,
    ):

        def count(worker: int, buffer: ReadBuffer) -> None:
            counters[worker].count(buffer)
            stage.advance(buffer.input_size)

        workers.feed(buffers, count)
    words = Words()
    context.report.step("Cutting words")
    workers.feed(counters, lambda _, counter: words.add(counter, workers.cancel))
    return_freed_memory()
    return words


def sampled_texts(source: LineSource, plan: TextPlan, report: Report) -> LineSource:
    """Return the sample that the plan requires, or the source itself if no sample is required.

    Raises
    ------
    TrainingError
        If the text cannot be read, or is not well-formed UTF-8.
    """
    if plan.input_sentence_size == 0:
        return source
    sample = empty_sample(plan)
    with (
        report.stage("Sampling", source.size(), "bytes") as stage,
        closing(_checked(source, plan, report, lambda: sample.done)) as buffers,
    ):
        for buffer in buffers:
            sample.add_texts(buffer)
            stage.advance(buffer.input_size)
    report.info(f"Sampled {len(sample)} texts from {sample.offered} texts.")
    return Items(sample, text=TextPlan(long_sentences="keep"))


def buffers_of(
    source: LineSource, plan: TextPlan, report: Report
) -> Generator[ReadBuffer, None, None]:
    """Yield the read buffers of a text, and report NUL characters and skipped records.

    A sample was checked when it was drawn.

    Raises
    ------
    StrictError
        If the option `strict` refuses the text.
    """
    if plan.input_sentence_size:
        return iter(source)
    return _checked(source, plan, report, lambda: False)


def _checked(
    source: LineSource, plan: TextPlan, report: Report, is_done: Callable[[], bool]
) -> Generator[ReadBuffer, None, None]:
    records, nulls, nul = 0, 0, ""
    with closing(iter(source)) as buffers:
        for buffer in buffers:
            nul = nul or buffer.first_nul()
            if nul and plan.strict:
                break
            records += buffer.lines
            nulls += buffer.nulls
            yield buffer
            if is_done():
                break
    if nul:
        _report(
            f"The text contains NUL characters, as binary files do. The first: {nul}.",
            report,
            plan.strict,
        )
    skipped = source.skipped()
    numbers = {"null": nulls, "broken": skipped.broken, "too long": skipped.huge}
    found = ", ".join(f"{number} {kind}" for kind, number in numbers.items() if number)
    if found:
        first = f" The first broken one: {skipped.first_broken}" if skipped.broken else ""
        number = sum(numbers.values())
        is_refused = plan.strict and number > MOST_SKIPPED * (records + number)
        _report(f"Records were skipped: {found}.{first}", report, is_refused)


def _report(warning: str, report: Report, is_refused: bool) -> None:
    if is_refused:
        raise StrictError(f"{warning} Leave strict out to train on this text.")
    report.warning(warning)
