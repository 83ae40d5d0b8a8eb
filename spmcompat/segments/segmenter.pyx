"""From counts and an alphabet to a corpus: rare characters replaced, pretokens cut into segments.

pretoken_counts.hpp replaces characters, delimiter.hpp removes delimiters, text_end.hpp looks at the
end of the text, and segmenter.hpp cuts. Workers share each step, by shards or parts of the
pretokens; all of them release the GIL while they work.
"""

from cython cimport final

from cython.operator cimport dereference
from libc.stdint cimport uint32_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.utility cimport move
from libcpp.vector cimport vector

from spmcompat.counting.counter cimport CCounter, Counter
from spmcompat.counting.counts cimport SHARD_BITS, CharacterSum, Counts, PretokenCounts
from spmcompat.plan cimport char32_t
from spmcompat.segments.corpus cimport CSegmentCounts, Corpus, PretokenRule, SegmentCounts

from functools import partial

from spmcompat.errors import TrainingError
from spmcompat.unicode.marks import SPACE_MARK
from spmcompat.runtime.memory import return_freed_memory
from spmcompat.segments.coverage import whole_alphabet


cdef size_t PARTS_PER_WORKER = 4


# Cython cannot pass C++ lambdas.
cdef extern from *:
    """
    #include "spmcompat/counting/counter.hpp"
    #include "spmcompat/segments/segment_counts.hpp"
    namespace spmcompat {
    // Frees what the worker has counted.
    inline void count_text_segments(Counter& counter, const PretokenRule& rule,
                                    const std::vector<char32_t>& alphabet, SegmentCounts& out) {
      const std::vector<bool> required = required_characters(alphabet);
      std::string covered;
      counter.table().consume_texts([&](std::string_view text, uint64_t count) {
        const size_t longest = rule.bpe_longest_pretoken;
        if (rule.bpe_delimiter.empty() && (longest == 0 || text.size() <= longest)) {
          out.add_long_segments(text, count, rule.pieces, required);
          return;
        }
        if (cover_text(text, required, covered)) text = covered;
        for_each_pretoken(text, rule.pieces, [&](std::string_view pretoken, bool) {
          out.add_segments(std::string(pretoken), count, rule);
        });
      });
    }
    }
    """
    vector[cbool] required_characters "spmcompat::required_characters"(
        const vector[char32_t]& alphabet) except + nogil
    void count_text_segments "spmcompat::count_text_segments"(
        CCounter& counter, const PretokenRule& rule, const vector[char32_t]& alphabet,
        CSegmentCounts& out) except + nogil


def lacks_pretokens(Counts counts not None, list alphabet not None, plan not None):
    """Return whether pretokens join, but the counts lack the pretokens of each sentence."""
    if _joins_pretokens(plan, alphabet) and not counts.has_pretokens:
        return True
    return counts.seeds is not None and lacks_pretokens(counts.seeds, alphabet, plan.seeds)


def _joins_pretokens(plan, list alphabet):
    """Return whether the pretokens of a sentence join.

    They do if the space mark is not required: it becomes the unknown mark, which ends no pretoken.
    They never join across boundary marks that end pretokens; a plan with such marks keeps them
    apart everywhere.
    """
    return (
        plan.keeps_contexts
        and not plan.whole_sentences
        and not plan.spaces_apart
        and not plan.boundaries_end_pretokens
        and not any(c == ord(SPACE_MARK) for c, _ in alphabet))


def cut(Counts counts not None, list alphabet not None, plan not None, workers):
    """Return the `Corpus` that training reads. The counts are empty afterwards.

    Parameters
    ----------
    counts : Counts
        The counts, with the pretokens of each sentence where pretokens join.
    alphabet : list of (int, int)
        Required characters and their counts.
    plan : Plan
        How the text was counted.
    workers : Workers
        Real threads.
    """
    counts.merge(workers)
    if _joins_pretokens(plan, alphabet):
        if not counts.has_pretokens:
            raise TrainingError("INTERNAL: the pretokens of the sentences were not kept")
        workers.call(lambda: _join_sentences(counts))
    corpus, part_characters = _cut(counts, alphabet, workers, plan.em_reads_sentences, True)
    if counts.seeds is not None:
        corpus.seed_text = cut(counts.seeds, alphabet, plan.seeds, workers)
        if part_characters is not None:
            # The reference counts these characters in the text. It does not count the copies of
            # sentences that are made for the seeds.
            corpus.seed_text.alphabet = whole_alphabet(part_characters, plan.boundary)
    return corpus


def cut_seeding_chunk(Counts counts not None, list alphabet not None, workers):
    """Return a `Corpus` without pretokens, to look for seeds in. The counts are empty afterwards.

    Pretokens do not join here if the space mark is not required. That makes no difference, because
    every unknown mark ends a segment.
    """
    corpus, _ = _cut(counts, alphabet, workers, False, False)
    return corpus


def bpe_segments(Counts counts not None, list alphabet not None, plan not None, workers):
    """Return the `SegmentCounts` that BPE merges. The counts are empty afterwards.

    Parameters are those of `cut`.

    Raises
    ------
    TrainingError
        For a pretoken that is too long for the release.
    """
    if plan.keeps_contexts:
        corpus = cut(counts, alphabet, plan, workers)
        return workers.call(corpus.bpe_segments)
    if plan.cuts_segments:
        return _table_segments(counts, alphabet, workers)
    parts = []
    workers.run(
        counts.counters,
        lambda _, counter: parts.append(_counter_segments(counter, counts, alphabet)))
    segments = parts.pop()
    while parts:
        workers.call(partial(segments.add, parts.pop()))
    return segments


def _table_segments(Counts counts, list alphabet, workers):
    counts.cut(workers)
    cdef SegmentCounts found = SegmentCounts.of_rule(PretokenRule(counts.plan))
    covering = _CuttingSegments(counts, alphabet)
    covering.run(workers)
    found.segments = CSegmentCounts(move(dereference(counts.segments)))
    counts.segments.reset()
    return found


def _counter_segments(Counter counter, Counts counts, list alphabet):
    cdef vector[char32_t] required
    for c, _ in alphabet:
        required.push_back(c)
    cdef SegmentCounts found = SegmentCounts.of_rule(PretokenRule(counts.plan))
    try:
        with nogil:
            count_text_segments(
                dereference(counter.counter), found.rule, required, found.segments)
    except RuntimeError as error:
        found.fail(error)
    counter.counter.reset()
    return found


def _join_sentences(Counts counts):
    cdef unique_ptr[PretokenCounts] joined
    cdef bint uniform = counts.plan.uniform_starts
    with nogil:
        joined.reset(new PretokenCounts(SHARD_BITS))
        dereference(counts.pretokens).join_sentences(counts.order, uniform, dereference(joined))
        counts.pretokens = move(joined)
        dereference(counts.pretokens).close_sentences(counts.order, uniform)


def _cut(Counts counts, list alphabet, workers, bint in_order, bint with_pretokens):
    """Return the `Corpus`, and how often characters occur between removed delimiters.

    The latter is None if no delimiter is removed.
    """
    cdef Corpus corpus = Corpus()
    part_characters = None
    corpus.alphabet = alphabet
    corpus.rule = PieceRule(counts.plan)
    corpus.pretoken_rule = PretokenRule(counts.plan)
    corpus.seed_tree_of_characters = counts.plan.seed_tree_of_characters
    cdef bint with_order = in_order or counts.plan.looks_at_text_end
    _Covering(counts, alphabet).run(workers, with_order)
    if counts.plan.removed_delimiter.size() > 0:
        part_characters = _Delimiting(counts, with_order).run(workers, in_order)
    if counts.plan.looks_at_text_end:
        workers.call(lambda: _look_at_text_end(counts, corpus))
    corpus.text_bytes = dereference(counts.pretokens).text_bytes()
    if with_pretokens:
        _Segmenting(counts, PARTS_PER_WORKER * workers.count).run(corpus, workers, in_order)
    else:
        _Segmenting(counts, 0).run_without_pretokens(corpus, workers)
    counts.order = SentenceOrder()
    return_freed_memory()
    return corpus, part_characters


def _look_at_text_end(Counts counts, Corpus corpus):
    cdef unique_ptr[TextEndSeeds] end
    with nogil:
        end.reset(new TextEndSeeds(
            dereference(counts.pretokens).pretokens(), corpus.rule, counts.order,
            max(counts.plan.copies, 1)))
        corpus.segmented.at_text_end = dereference(end).counts()


@final
cdef class _Covering:
    """Replaces all characters but those of the alphabet."""

    cdef Counts counts
    cdef vector[char32_t] required

    def __init__(self, Counts counts, list alphabet):
        self.counts = counts
        for c, _ in alphabet:
            self.required.push_back(c)

    def run(self, workers, bint with_order):
        shards = range(dereference(self.counts.pretokens).pretokens().shards())
        workers.call(self._require)
        workers.run(shards, lambda _, shard: self._find_changes(shard))
        workers.run(shards, lambda _, shard: self._change(shard))
        workers.call(lambda: self._finish(with_order))

    def _require(self):
        with nogil:
            dereference(self.counts.pretokens).require(self.required)

    def _find_changes(self, uint32_t shard):
        with nogil:
            dereference(self.counts.pretokens).find_changes(shard)

    def _change(self, uint32_t shard):
        with nogil:
            dereference(self.counts.pretokens).change(shard)

    def _finish(self, bint with_order):
        with nogil:
            dereference(self.counts.pretokens).finish_changes(
                &self.counts.order if with_order else NULL)


@final
cdef class _CuttingSegments:
    """Cuts segments at the characters that are not in the alphabet."""

    cdef Counts counts
    cdef vector[cbool] required

    def __init__(self, Counts counts, list alphabet):
        cdef vector[char32_t] characters
        self.counts = counts
        for c, _ in alphabet:
            characters.push_back(c)
        self.required = required_characters(characters)

    def run(self, workers):
        shards = range(dereference(self.counts.segments).shards())
        workers.run(shards, lambda _, shard: self._find_parts(shard))
        workers.run(shards, lambda _, shard: self._add_parts(shard))

    def _find_parts(self, uint32_t shard):
        with nogil:
            dereference(self.counts.segments).find_parts(shard, self.required)

    def _add_parts(self, uint32_t shard):
        with nogil:
            dereference(self.counts.segments).add_parts(shard)


@final
cdef class _Delimiting:
    """Removes the delimiters of old releases from sentences, and cuts the sentences."""

    cdef Counts counts
    cdef unique_ptr[DelimitedSentences] sentences
    cdef unique_ptr[PretokenCounts] pretokens

    def __init__(self, Counts counts, bint ordered):
        self.counts = counts
        self.sentences.reset(new DelimitedSentences(
            dereference(counts.pretokens).pretokens(), counts.plan, ordered))
        self.pretokens.reset(new PretokenCounts(SHARD_BITS))

    def run(self, workers, bint in_order):
        """Return how often each known character occurs between the delimiters."""
        cdef CharacterSum characters = CharacterSum(workers.count)
        cdef bint at_end = self.counts.plan.looks_at_text_end
        shards = range(dereference(self.counts.pretokens).pretokens().shards())
        workers.run(
            shards, lambda worker, shard: self._count_characters(characters, worker, shard))
        workers.run(shards, lambda _, shard: self._cut(shard))
        with nogil:
            if at_end:
                self.counts.order = dereference(self.sentences).order_of_pretokens(
                    self.counts.order)
            elif in_order:
                self.counts.order = dereference(self.sentences).order_of_texts(self.counts.order)
            self.sentences.reset()
            self.counts.pretokens = move(self.pretokens)
        return characters.total()

    def _count_characters(self, CharacterSum characters, size_t worker, uint32_t shard):
        with nogil:
            dereference(self.sentences).count_characters(shard, characters.counts[worker])

    def _cut(self, uint32_t shard):
        with nogil:
            dereference(self.sentences).cut(shard, dereference(self.pretokens).pretokens())


@final
cdef class _Segmenting:
    """Cuts pretokens into segments. It takes the pretokens out of the counts."""

    cdef Counts counts
    cdef unique_ptr[Segmenter] segmenter
    cdef object parts
    cdef object shards

    def __init__(self, Counts counts, size_t parts):
        self.counts = counts
        self.parts = range(parts)
        self.shards = range(dereference(counts.pretokens).pretokens().shards())
        self.segmenter.reset(new Segmenter(
            move(dereference(counts.pretokens).pretokens()), PieceRule(counts.plan),
            counts.plan.seed_tree_of_characters, parts))
        counts.pretokens.reset()

    def run(self, Corpus corpus, workers, bint in_order):
        workers.run(self.parts, lambda _, part: self._sort(part))
        workers.call(self._divide)
        workers.run(self.parts, lambda _, part: self._merge(part))
        dereference(self.segmenter).end_merge()
        workers.run(self.parts, lambda _, part: self._cut(part))
        workers.run(self.shards, lambda _, shard: self._take_contexts(shard))
        workers.call(lambda: self._assemble(corpus, in_order))

    def run_without_pretokens(self, Corpus corpus, workers):
        workers.run(self.shards, lambda _, shard: self._cut_shard(shard))
        workers.run(self.shards, lambda _, shard: self._take_contexts(shard))
        workers.call(lambda: self._assemble_segments(corpus))

    def _sort(self, size_t part):
        with nogil:
            dereference(self.segmenter).sort_pretokens(part)

    def _divide(self):
        with nogil:
            dereference(self.segmenter).divide()

    def _merge(self, size_t part):
        with nogil:
            dereference(self.segmenter).merge(part)

    def _cut(self, size_t part):
        with nogil:
            dereference(self.segmenter).cut(part)

    def _cut_shard(self, uint32_t shard):
        with nogil:
            dereference(self.segmenter).cut_shard(shard)

    def _take_contexts(self, uint32_t shard):
        with nogil:
            dereference(self.segmenter).take_contexts(shard)

    def _assemble(self, Corpus corpus, bint in_order):
        with nogil:
            dereference(self.segmenter).assemble(
                &self.counts.order if in_order else NULL, corpus.segmented)
            self.segmenter.reset()

    def _assemble_segments(self, Corpus corpus):
        with nogil:
            dereference(self.segmenter).assemble_segments(corpus.segmented)
            self.segmenter.reset()
