"""From counts and an alphabet to a corpus: rare characters replaced, pretokens cut into segments.

For example::

    corpus = cut(counts, alphabet, plan, workers)

The functions of cut.hpp do this, and those of text_end.hpp for old releases.
"""

from cython.operator cimport dereference
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.utility cimport move
from libcpp.vector cimport vector

from spmcompat.counting.counter cimport CCounter, Counter
from spmcompat.counting.counts cimport (
    SHARD_BITS, CharacterSum, Counts, PretokenCounts, SentenceOrder)
from spmcompat.plan cimport char32_t
from spmcompat.runtime.crew cimport Crew, start_change
from spmcompat.segments.corpus cimport CSegmentCounts, Corpus, PretokenRule, SegmentCounts

from functools import partial

from spmcompat.errors import TrainingError
from spmcompat.unicode.marks import SPACE_MARK
from spmcompat.runtime.memory import return_freed_memory
from spmcompat.segments.coverage import whole_alphabet


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
    cdef Crew crew = workers.crew
    cdef vector[char32_t] required
    cdef SegmentCounts found = SegmentCounts.of_rule(PretokenRule(counts.plan))
    _add_characters(alphabet, required)
    start_change(
        dereference(crew.crew), dereference(counts.segments), cut_at_rare_characters, required)
    crew.await_stage()
    found.segments = CSegmentCounts(move(dereference(counts.segments)))
    counts.segments.reset()
    return found


cdef _add_characters(list alphabet, vector[char32_t]& characters):
    # They are not returned, because Cython would not catch what the copy throws.
    for c, _ in alphabet:
        characters.push_back(c)


def _counter_segments(Counter counter, Counts counts, list alphabet):
    cdef vector[char32_t] required
    cdef SegmentCounts found = SegmentCounts.of_rule(PretokenRule(counts.plan))
    _add_characters(alphabet, required)
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
    cdef Crew crew = workers.crew
    cdef vector[char32_t] required
    cdef cbool ordered = in_order
    cdef CharacterSum characters = CharacterSum(workers.count)
    cdef SentenceOrder* order = NULL
    _add_characters(alphabet, required)
    if in_order or counts.plan.looks_at_text_end:
        order = &counts.order
    start_change(
        dereference(crew.crew), dereference(counts.pretokens), cover_pretokens, required, order)
    crew.await_stage()
    if counts.plan.removed_delimiter.size() > 0:
        start_change(
            dereference(crew.crew), counts.pretokens, remove_delimiters, counts.plan, SHARD_BITS,
            counts.order, ordered, characters.counts)
        crew.await_stage()
        part_characters = characters.total()
    if counts.plan.looks_at_text_end:
        workers.call(lambda: _look_at_text_end(counts, corpus))
    corpus.text_bytes = dereference(counts.pretokens).text_bytes()
    if with_pretokens:
        order = &counts.order if in_order else NULL
        start_change(
            dereference(crew.crew), corpus.segmented, cut_pretokens, counts.pretokens,
            counts.plan, order)
    else:
        start_change(
            dereference(crew.crew), corpus.segmented, cut_segments, counts.pretokens, counts.plan)
    crew.await_stage()
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
