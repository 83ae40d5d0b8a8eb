"""Counts of a text: the counters of the workers, and the counts that are merged from them.

`Counter` counts the pretokens of sentences (counter.hpp); each worker has one. `Counts` merges the
counters (pretoken_counts.hpp and sentence_order.hpp). Later stages use only `Counts`.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cython cimport final
from cython.operator cimport dereference
from libc.math cimport logf
from libc.stdint cimport uint64_t
from libcpp.utility cimport move

from spmcompat.runtime.threads cimport CancelFlag, Crew, start_stage
from spmcompat.text.lines cimport (
    BufferText, CLineFilter, CReservoirSample, LineFilter, ReadBuffer, SampleSlice)

from spmcompat.errors import BadRulesError
from spmcompat.pretokenization.pretokenizer import Pretokenizer
from spmcompat.runtime.threads import return_freed_memory
from spmcompat.unicode.marks import SPACE_MARK


cdef extern from "spmcompat/counting/counter.hpp" namespace "spmcompat" nogil:
    void count_lines "spmcompat::count_lines"(
        CLineFilter& filter, const BufferText& buffer, CCounter& counter) except +
    void count_sample "spmcompat::count_sample"(
        const CReservoirSample& sample, size_t first, size_t last, CCounter& counter) except +


@final
cdef class SentenceRules:
    """How sentences are normalized and cut. The counters of all workers share one instance.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    cancel : CancelFlag
        After it is set, work on the counters' tables stops, and the pretokenizer is no longer
        called.
    """

    def __init__(self, plan not None, CancelFlag cancel not None):
        self.plan = plan.structs()
        self.cancel = cancel
        if plan.cut is not None:
            consistent = not plan.allow_inconsistent_pretokenization
            self.pretokenize = Pretokenizer(plan.cut, consistent, cancel)
        cdef bytes charsmap = plan.charsmap
        cdef bytes symbol
        cdef vector[string] symbols
        for symbol in plan.meta_pieces:
            symbols.push_back(string(PyBytes_AS_STRING(symbol), PyBytes_GET_SIZE(symbol)))
        try:
            self.normalizer.reset(new SentenceNormalizer(
                string_view(PyBytes_AS_STRING(charsmap), PyBytes_GET_SIZE(charsmap)),
                move(symbols), self.plan))
        except RuntimeError as error:
            raise BadRulesError(f"INTERNAL: {error}") from None


@final
cdef class Batch:
    """The sentences of one read buffer, in order.

    The ids of pretokens and raw tokens refer to the tables of the worker that counted the batch.
    """

    @property
    def text_bytes(self):
        """Size of the text, in bytes."""
        return self.log.text_bytes

    @property
    def text_pretokens(self):
        """Number of pretokens, or of raw tokens if the plan counts raw tokens."""
        return self.log.text_pretokens

    @property
    def sentences(self):
        """Number of sentences."""
        return self.log.sentences

    @property
    def filled(self):
        """Number of non-empty sentences."""
        return self.log.filled

    def drop_pretokens(self):
        """Free the pretokens of the sentences."""
        self.log.drop_pretokens()

    def drop_sentences(self):
        """Free the last pretoken and the count of each sentence.

        The number of sentences stays known. This method must not be called if the plan keeps the
        order of the sentences.
        """
        self.log.drop_sentences()


@final
cdef class Selection:
    """Selects the sentences of a batch that are counted."""


@final
cdef class Counter:
    """The counter of one worker."""

    def __init__(self, int worker, SentenceRules rules not None):
        self.worker = worker
        self.rules = rules
        self.counter.reset(new CCounter(rules.plan, dereference(rules.normalizer)))

    def count(self, uint64_t index, buffer, LineFilter line_filter not None, bint keep_pretokens,
              Selection selection=None):
        """Count the sentences of a read buffer; return its `Batch`.

        Parameters
        ----------
        index : int
            The position of the buffer in the text.
        buffer : ReadBuffer or SampleSlice
            The text.
        line_filter : LineFilter
            Decides which lines are sentences. The lines of a sample have already passed it.
        keep_pretokens : bool
            Whether the batch keeps the pretokens of each sentence.
        selection : Selection, optional
            The sentences to count; by default all.
        """
        cdef const BatchSelection* selected = NULL
        if selection is not None:
            selected = &selection.selection
        dereference(self.counter).begin_batch(index, keep_pretokens, selected)
        cdef SampleSlice sampled
        cdef ReadBuffer lines
        if isinstance(buffer, SampleSlice):
            sampled = buffer
            with nogil:
                count_sample(
                    dereference(sampled.sample.sample), sampled.first, sampled.last,
                    dereference(self.counter))
        else:
            lines = buffer
            try:
                with nogil:
                    count_lines(
                        dereference(line_filter.filter), lines.whole_text(),
                        dereference(self.counter))
            except RuntimeError as error:
                line_filter.fail(lines, error)
        cdef Batch batch = Batch()
        if self.rules.pretokenize is not None:
            self._pretokenize()
        batch.worker = self.worker
        batch.log = move(dereference(self.counter).end_batch())
        if not isinstance(buffer, SampleSlice):
            self._note_places(index, lines, line_filter)
        return batch

    def least_last_pretoken(self, Batch batch not None):
        """Return the pretoken that is smallest in byte order among those that end a sentence.

        Parameters
        ----------
        batch : Batch
            A batch that `count` of this counter returned.

        Returns
        -------
        bytes
            The pretoken; empty if all sentences of the batch are empty.
        """
        return dereference(self.counter).table().least_last_pretoken(batch.log.last)

    @property
    def surprises(self):
        """How many sentences are `blank`, contain a NUL (`nul`), or are not UTF-8 (`malformed`)."""
        return dereference(self.counter).surprises()

    @property
    def table_bytes(self):
        """Size of the tables of raw tokens, pretokens and contexts, in bytes of memory."""
        return dereference(self.counter).table().bytes()

    cdef _note_places(self, uint64_t index, ReadBuffer buffer, LineFilter line_filter):
        line_filter.note_skipped(index, buffer)
        line_filter.note("nul", index, buffer, dereference(self.counter).first_nul())
        line_filter.note("malformed", index, buffer, dereference(self.counter).first_malformed())

    cdef _pretokenize(self):
        cdef CountedTexts sentences = dereference(self.counter).take_normalized()
        for i in range(sentences.size()):
            sentences[i].first = self.rules.pretokenize(<bytes>sentences[i].first)
        with nogil:
            dereference(self.counter).add_marked(sentences)


@final
cdef class Counts:
    """The counts of a text.

    They contain the distinct pretokens, the count of each pretoken in each context (the character
    that follows it), and the end of the text. If later stages need it, they also contain the order
    of the sentences and the pretokens of each sentence.

    Parameters
    ----------
    plan : Plan
        How the text was counted.
    counters : list of Counter
        The counters of all workers. They are freed when the counts are merged.
    batches : list of Batch
        The sentences, in the order of the text.
    has_pretokens : bool
        Whether the batches contain the pretokens of the sentences.

    Attributes
    ----------
    has_pretokens : bool
        Whether the pretokens of each sentence are known.
    sentences : int
        Number of non-empty sentences, if the plan keeps contexts.
    first_character : int
        The first character of the text. It is the space mark if every sentence begins with one or
        is read as if it did.
    nuls : int
        How often NUL occurs. It is set when the characters are counted.
    facts : LineFacts
        How many lines of the input were read and skipped.
    seeds : Counts or None
        The counts for seeding, if the text is read by different rules for seeding.
    """

    def __init__(self, plan not None, list counters not None, list batches not None,
                 bint has_pretokens):
        cdef Counter counter
        cdef Batch batch
        self.plan = plan.structs()
        self.has_pretokens = has_pretokens
        self.first_character = ord(SPACE_MARK)
        for counter in counters:
            self.rules = counter.rules  # keeps the normalizer alive, which the counter uses
            self.text.add(move(counter.counter))
        for batch in batches:
            self.text.add(move(batch.log), batch.worker)

    def merge(self, workers):
        """Merge the counters of the workers, unless they are already merged.

        If the plan does not keep contexts, the counters are not merged, because it is faster to add
        up the characters or segments of each counter later.
        """
        if self.pretokens or not self.plan.counting.keeps_contexts:
            return
        cdef Crew crew = workers.crew
        cdef uint64_t sentences = 0
        start_stage(
            dereference(crew.crew), sentences, merge_text, self.text, self.pretokens, self.order,
            self.plan.counting, self.has_pretokens)
        crew.await_stage()
        self.sentences = sentences
        if not self.plan.counting.uniform_starts and self.order.first.size() > 0:
            self.first_character = self.order.first[0]
        if not (self.has_pretokens or self.plan.counting.whole_sentences):
            self.order = SentenceOrder()
        return_freed_memory()

    cdef cut(self, workers):
        """Count the characters, and cut the text into segments, unless this was already done.

        Only for plans that cut segments. Frees the counters and keeps the characters and segments.
        """
        cdef Crew crew = workers.crew
        if self.segments:
            return
        start_stage(
            dereference(crew.crew), self.segment_characters, cut_text, self.text, self.segments,
            self.plan.cutting)
        crew.await_stage()
        return_freed_memory()

    def characters(self, workers):
        """Return how often each character (code point) occurs.

        The result does not contain NUL, whose count is stored in `nuls`. It contains the space mark
        only if the plan counts spaces, and the boundary mark only if boundary marks do not end
        pretokens.
        """
        cdef Crew crew = workers.crew
        cdef CharacterCounts found
        if self.plan.counting.cuts_segments:
            self.cut(workers)
            return self._character_counts(self.segment_characters)
        if self.pretokens:
            start_stage(dereference(crew.crew), found, count_characters, self.pretokens)
        else:
            start_stage(dereference(crew.crew), found, count_text_characters, self.text)
        crew.await_stage()
        return self._character_counts(found)

    cdef dict _character_counts(self, CharacterCounts& found):
        counts = dict(found.counted())
        self.nuls = found.nuls()
        if self.plan.cutting.spaces_apart:
            counts.pop(ord(SPACE_MARK), None)
        if self.plan.cutting.boundaries_end_pretokens:
            counts.pop(self.plan.cutting.boundary, None)
        return counts


def log_shares(counts, total):
    """Return the logarithm of each count's share of `total`.

    Parameters
    ----------
    counts : iterable of int
        The counts. The logarithm for a count of 0 is minus infinity.
    total : int
        The number by which the counts are divided. It wraps at 2**64.

    Returns
    -------
    list of float
        Scores (float32).

    Notes
    -----
    Both logarithms and their difference are computed in float32, as in ``word_model_trainer.cc``
    and ``char_model_trainer.cc`` of sentencepiece 0.2.3.
    """
    cdef float log_total = logf(<float><uint64_t>(total % 2**64))
    cdef float score
    cdef uint64_t count
    scores = []
    for count in counts:
        score = logf(<float>count) - log_total
        scores.append(score)
    return scores
