"""Reads a text as training does, with given options or with those that a model stores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from spmcompat.counting.counts import Counts
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.options.given_text import GivenText
from spmcompat.options.job import Job
from spmcompat.runtime.context import Context
from spmcompat.runtime.progress import Report
from spmcompat.segments.corpus import Corpus, SegmentCounts
from spmcompat.segments.coverage import choose_alphabet
from spmcompat.segments.cutting import cut_corpus, cut_for_bpe
from spmcompat.text.sources import Source
from spmcompat.training import make_model
from spmcompat.training import read as read_job
from spmcompat.unigram.options import UnigramOptions

if TYPE_CHECKING:
    import pyarrow as pa

    from spmcompat.stored_counts.origin import Origin


class Text(NamedTuple):
    """A text that was read and counted.

    Attributes
    ----------
    job : Job
        The job for which it was read.
    counts : Counts
        The counts that training starts from.
    alphabet : list of (int, int)
        The characters that must be pieces, with their counts in the text.
    source : Source or None
        The text; None if stored counts were given instead of a text.
    """

    job: Job
    counts: Counts
    alphabet: list[tuple[int, int]]
    source: Source | None

    @property
    def unigram(self) -> UnigramOptions:
        """The options with which training would learn a Unigram model from the text."""
        options = self.job.options.unigram
        assert options is not None, "the text is not read for a Unigram model"
        return options[0]

    def required_characters(self, others: str) -> set[str]:
        """Return the characters that the coverage of the text requires, and `others`."""
        return set(map(chr, _covered(self.alphabet, self.job, others)))

    def corpus(self, context: Context) -> Corpus:
        """Return the corpus from which a Unigram model is trained. The counts are empty then."""
        plan = self.job.plan
        return cut_corpus(self.counts, self.alphabet, plan, self.source, context)

    def segments(self, context: Context) -> SegmentCounts:
        """Return the segments from which a BPE model is trained. The counts are empty then."""
        return cut_for_bpe(self.counts, self.alphabet, self.job.plan, context)

    def model(self, pieces: list[tuple[bytes, float]]) -> bytes:
        """Return the model that training would write with these pieces and scores.

        The ids of the pieces follow those of the meta pieces, in the order of the list.
        """
        job = self.job
        release = job.plan.text.release
        return make_model(pieces, job.runs.common, job.stored, (), release).model


def read(given: GivenText, context: Context) -> Text:
    """Read and count a text as training does.

    Parameters
    ----------
    given : GivenText
        The text and the options.
    context : Context
        The worker threads, whose number never changes the result, and the report.

    Raises
    ------
    TrainingError
        If the text cannot be read, or training is not possible with the options.
    """
    return _read(given.job(), context)


def read_like(model: ModelProto, given: GivenText, context: Context) -> Text:
    """Read and count a text as training did when a model was trained.

    Parameters
    ----------
    model : ModelProto
        The model; see `GivenText.job_like`.
    given : GivenText
        The text.
    context : Context
        The worker threads, whose number never changes the result, and the report.

    Returns
    -------
    Text
        Its alphabet also contains the characters of the model.

    Raises
    ------
    TrainingError
        If the text cannot be read, or the user's pretokenizer is not possible with an option of the
        model.
    """
    job = given.job_like(model)
    # Count all characters. The coverage is not applied until later, because it must not drop
    # characters of the model.
    coverage = job.plan.coverage
    every = job.plan._replace(coverage=coverage._replace(character_coverage=math.inf))
    text = _read(job._replace(plan=every), context)
    known = _covered(text.alphabet, job, coverage.required_chars)
    known.update(map(ord, coverage.required_chars))
    alphabet = [one for one in text.alphabet if one[0] in known]
    return text._replace(job=job, alphabet=alphabet)


def counted(
    given: GivenText, report: Report, allow_empty: bool = False
) -> tuple[Origin, Iterator[pa.RecordBatch]]:
    """Count a text for stored counts. See `spmcompat.counts.count_text`."""
    from spmcompat.counts import count_text

    return count_text(given.counting_job(), given.sentences, report, allow_empty)


def _read(job: Job, context: Context) -> Text:
    counts, alphabet, source, _ = read_job(job, context)
    return Text(job, counts, alphabet, source)


def _covered(alphabet: Iterable[tuple[int, int]], job: Job, required: str) -> set[int]:
    """Return the code points of the characters that the coverage of a text requires."""
    counts = {character: count for character, count in alphabet if count > 0}
    coverage, boundary = job.runs.common.character_coverage, job.plan.cutting.boundary
    chosen, _ = choose_alphabet(counts, coverage, required, boundary=boundary)
    return {character for character, _ in chosen}
