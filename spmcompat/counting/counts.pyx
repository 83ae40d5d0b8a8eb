"""The counts: everything that training needs to know about a text.

`Counts` wraps the C++ objects of pretoken_counts.hpp and sentence_order.hpp, and merges what the
workers have counted. Each step is divided among the workers, by counter or by shard of pretokens,
and releases the GIL.
"""

from cython cimport final

from cython.operator cimport dereference
from libcpp.utility cimport move

from spmcompat.counting.counter cimport Batch, CCounter

from spmcompat.unicode.marks import SPACE_MARK
from spmcompat.runtime.memory import return_freed_memory


# Cython cannot pass C++ lambdas.
cdef extern from *:
    """
    #include "spmcompat/counting/character_counts.hpp"
    #include "spmcompat/counting/counter.hpp"
    namespace spmcompat {
    inline void count_text_characters(Counter& counter, CharacterCounts& counts) {
      counter.table().for_each_text([&](std::string_view text, uint64_t count) {
        for_each_character(text, [&](char32_t c) { counts.add(c, count); });
      });
    }
    }
    """
    void count_text_characters "spmcompat::count_text_characters"(
        CCounter& counter, CharacterCounts& counts) except + nogil


cdef unsigned int SHARD_BITS = 6


@final
cdef class CharacterSum:
    """The character counts of each worker, and their sum."""

    def __init__(self, size_t workers):
        self.counts.resize(workers)

    cdef dict total(self):
        """Return how often each character (code point) except NUL occurs, and set `nuls`."""
        cdef size_t worker
        for worker in range(1, self.counts.size()):
            self.counts[0].add(self.counts[worker])
        self.counts.resize(1)
        self.nuls = self.counts[0].nuls()
        return dict(self.counts[0].counted())


@final
cdef class Counts:
    """The counts of a text.

    They consist of the distinct pretokens, how often each occurs and what follows it, and how the
    text ends. If the plan keeps them, the order of the sentences and the pretokens of each sentence
    are included.

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
        The counts of the text for seeding, if seeding reads the text by other rules.
    """

    def __init__(self, plan not None, list counters not None, list batches not None,
                 bint has_pretokens):
        self.plan = plan._asdict()
        self.counters = counters
        self.batches = batches
        self.has_pretokens = has_pretokens
        self.first_character = ord(SPACE_MARK)

    def merge(self, workers):
        """Merge what the workers have counted, unless it is merged already.

        If the plan does not keep contexts, the counters are not merged: it is faster to add up the
        characters or segments of each counter later.
        """
        if self.batches is None or not self.plan.keeps_contexts:
            return
        if not (self.plan.keeps_order or self.has_pretokens):
            self.close_with_last_sentence(workers)
            return
        self.append_sentences(workers)
        with nogil:
            self.order.remove_empty(self.plan.removes_all_empty)
        self.close_sentences()

    def append_sentences(self, workers):
        """Merge the pretokens, and append the sentences of all batches in the order of the text."""
        cdef Counter counter
        cdef Batch batch
        self.pretokens.reset(new PretokenCounts(SHARD_BITS))
        workers.run(self.counters, lambda _, counter: self._merge_counter(counter, True))
        for batch in self.batches:
            counter = self.counters[batch.worker]
            with nogil:
                self.order.append(
                    move(batch.log), dereference(counter.counter).table(), self.has_pretokens)
        self._free_counters()

    def close_sentences(self):
        """Count what follows the ends of sentences. Keep the sentences only if they are needed."""
        if not self.plan.uniform_starts and self.order.first.size() > 0:
            self.first_character = self.order.first[0]
        with nogil:
            dereference(self.pretokens).close_sentences(self.order, self.plan.uniform_starts)
        self.sentences = self.order.last.size()
        if not (self.has_pretokens or self.plan.whole_sentences):
            self.order = SentenceOrder()

    def close_with_last_sentence(self, workers):
        """Merge the pretokens without the sentences, and find the sentence that ends the text."""
        cdef Counter counter
        cdef Batch batch
        cdef LastSentence ending
        cdef string last
        self.pretokens.reset(new PretokenCounts(SHARD_BITS))
        for batch in self.batches:
            ending.add(batch.log, batch.worker)
        if ending.sentences() > 0:
            ending.find()
            counter = self.counters[ending.worker()]
            last = dereference(counter.counter).table().last_pretoken(ending.id())
        workers.run(self.counters, lambda _, counter: self._merge_counter(counter, False))
        self._free_counters()
        if ending.sentences() > 0:
            dereference(self.pretokens).close_sentences(last)
        self.sentences = ending.sentences()

    def _merge_counter(self, Counter counter, bint keep_ids):
        with nogil:
            dereference(counter.counter).table().merge_into(
                dereference(self.pretokens).pretokens(), keep_ids)

    cdef _free_counters(self):
        cdef Counter counter
        for counter in self.counters:
            counter.counter.reset()
        self.counters = []
        self.batches = None
        return_freed_memory()

    cdef cut(self, workers):
        """Count the characters, and cut the text into segments, unless this is done already.

        Only for plans that cut segments. Frees the counters: only the characters and the segments
        are kept.
        """
        if self.text_characters is not None:
            return
        self.text_characters = CharacterSum(workers.count)
        self.segments.reset(new SegmentTable(SHARD_BITS))
        workers.run(self.counters, lambda worker, counter: self._cut_counter(worker, counter))
        self._free_counters()

    def _cut_counter(self, size_t worker, Counter counter):
        with nogil:
            cut_texts(
                dereference(counter.counter).table(), PieceRule(self.plan),
                self.text_characters.counts[worker], dereference(self.segments))
        counter.counter.reset()

    def characters(self, workers):
        """Return how often each character (code point) occurs.

        NUL is left out; its count is stored in `nuls`. The space mark is left out too if the plan
        does not count spaces, and the boundary mark if it ends pretokens.
        """
        cdef CharacterSum found = CharacterSum(workers.count)
        if self.plan.cuts_segments:
            self.cut(workers)
            found = self.text_characters
        elif self.pretokens:
            shards = range(dereference(self.pretokens).pretokens().shards())
            workers.run(
                shards, lambda worker, shard: self._count_shard_characters(found, worker, shard))
        else:
            workers.run(
                self.counters,
                lambda worker, counter: self._count_counter_characters(found, worker, counter))
        total = found.total()
        self.nuls = found.nuls
        if self.plan.spaces_apart:
            total.pop(ord(SPACE_MARK), None)
        if self.plan.boundaries_end_pretokens:
            total.pop(self.plan.boundary, None)
        return total

    def _count_shard_characters(self, CharacterSum found, size_t worker, uint32_t shard):
        with nogil:
            dereference(self.pretokens).count_characters(shard, found.counts[worker])

    def _count_counter_characters(self, CharacterSum found, size_t worker, Counter counter):
        with nogil:
            count_text_characters(dereference(counter.counter), found.counts[worker])
