"""Converts a text to the data that the trainers read: counts, alphabet and segments."""

from __future__ import annotations

from spmcompat.counting.counts import Counts
from spmcompat.counting.reading import read_counts, read_pretokens_again
from spmcompat.errors import NeedsSentencesError
from spmcompat.plan import Plan
from spmcompat.runtime.context import Context
from spmcompat.segments.corpus import Corpus, SegmentCounts, bpe_segments, cut, lacks_pretokens
from spmcompat.segments.coverage import find_alphabet
from spmcompat.text.sources import Source


def counts_and_alphabet(
    plan: Plan, source: Source, context: Context
) -> tuple[Counts, list[tuple[int, int]]]:
    """Return the counts of a text, and its required characters with their counts.

    If the space mark is not a required character, the pretokens of each sentence will be joined, so
    the counts must store which pretokens each sentence consists of. If they do not, because spaces
    were common in the first part of the text, this function reads the text again.

    Parameters and errors are those of `read_counts`, `find_alphabet` and `read_pretokens_again`.
    """
    counts = read_counts(plan, source, context)
    alphabet = find_alphabet(counts, plan, context)
    if lacks_pretokens(counts, alphabet, plan):
        del counts
        counts = read_pretokens_again(plan, source, context)
    return counts, alphabet


def alphabet_of_counts(counts: Counts, plan: Plan, context: Context) -> list[tuple[int, int]]:
    """Return the required characters of counts whose text cannot be read again.

    Raises
    ------
    TrainingError
        If the space mark is not required. Training would then need the sentences, which counts do
        not contain.
    """
    alphabet = find_alphabet(counts, plan, context)
    if lacks_pretokens(counts, alphabet, plan):
        raise NeedsSentencesError(
            "U+2581 (the space mark) falls below character_coverage, so training needs the "
            "sentences, which counts do not contain. Add U+2581 to required_chars, or train on the "
            "text."
        )
    return alphabet


def cut_corpus(
    counts: Counts,
    alphabet: list[tuple[int, int]],
    plan: Plan,
    source: Source | None,
    context: Context,
) -> Corpus:
    """Return the corpus on which the trainers train. The counts are empty afterwards.

    If the text is larger than a seeding chunk, seeding reads the source again.
    """
    context.report.step("Cutting pretokens into segments")
    sentences = counts.sentences
    corpus = cut(counts, alphabet, plan, context.workers)
    context.report.info(f"Done! preprocessed {sentences} sentences.")
    if source is not None and corpus.text_bytes > plan.seeding_chunk_bytes:
        # This module is imported only here, because few texts need it, and the import takes time.
        from spmcompat.segments.seeding_chunks import SeedingChunks  # noqa: PLC0415

        corpus.drop_uses()
        corpus.chunks = SeedingChunks(plan, source, alphabet, sentences, context)
    return corpus


def cut_for_bpe(
    counts: Counts,
    alphabet: list[tuple[int, int]],
    plan: Plan,
    context: Context,
) -> SegmentCounts:
    """Return the segments on which BPE trains. The counts are empty afterwards."""
    if not plan.counting.keeps_contexts:
        return bpe_segments(counts, alphabet, plan, context.workers)
    context.report.step("Cutting pretokens into segments")
    sentences = counts.sentences
    segments = bpe_segments(counts, alphabet, plan, context.workers)
    context.report.info(f"Done! preprocessed {sentences} sentences.")
    return segments
