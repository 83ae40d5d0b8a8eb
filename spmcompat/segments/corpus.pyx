"""From counts and an alphabet to a corpus: the distinct segments that the trainers read.

For example::

    corpus = cut(counts, alphabet, plan, workers)

Rare characters are replaced, and pretokens are cut into segments (cut.hpp, and text_end.hpp for old
releases). `ChunkPlan` divides a text that is too large for one search for seeds (chunk_plan.hpp).
"""

from cython cimport final
from cython.operator cimport dereference
from libc.stdint cimport uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.utility cimport move
from libcpp.vector cimport vector

from functools import partial

from spmcompat.counting.counts cimport (
    Batch, BatchLog, BatchSelection, CCounter, CharacterSum, Counter, Counts, PretokenCounts,
    PretokenTable, Selection, SentenceOrder, SHARD_BITS, WorkerTable)
from spmcompat.plan cimport char32_t
from spmcompat.runtime.threads cimport Crew, start_change

from spmcompat.errors import TrainingError
from spmcompat.runtime.threads import return_freed_memory
from spmcompat.segments.coverage import whole_alphabet
from spmcompat.unicode.marks import SPACE_MARK


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


cdef extern from "spmcompat/segments/chunk_plan.hpp" namespace "spmcompat" nogil:
    cdef cppclass Part "spmcompat::Chunk::Part":
        size_t batch

    cdef cppclass CChunk "spmcompat::Chunk":
        size_t size
        vector[Part] parts
        BatchSelection selection(size_t batch) except +
        void drop_others(BatchLog& read) except +
        void arrange(SentenceOrder& read) except +

    cdef cppclass CChunkPlan "spmcompat::ChunkPlan":
        CChunkPlan(const vector[char32_t]& alphabet, uint64_t chunk_bytes, size_t batches) except +
        void measure(
            const BatchLog& log, const WorkerTable& table, const PretokenTable& pretokens) except +
        void cut() except +
        size_t chunks()
        uint64_t sentences()
        CChunk chunk(size_t number) except +


@final
cdef class SegmentCounts:
    """Distinct segments and how often each occurs in the text."""

    @staticmethod
    cdef SegmentCounts of_rule(const PretokenRule& rule):
        """Return empty counts, for segments of pretokens that this rule cuts."""
        cdef SegmentCounts counts = SegmentCounts()
        counts.rule = rule
        return counts

    def __len__(self):
        return self.segments.size()

    def add(self, SegmentCounts other not None):
        """Add the counts of other segments."""
        with nogil:
            self.segments.add(other.segments)

    cdef fail(self, error):
        """Raise the error of a pretoken that is too long."""
        raise TrainingError(
            f"{error}: this release of sentencepiece counts its positions in 16 bits, up to "
            f"{self.rule.bpe_longest_pretoken} characters. Lower --max_sentence_length, or choose "
            "another release with compat."
        ) from None


@final
cdef class Corpus:
    """Distinct segments, the pretokens they make up, and the alphabet.

    Attributes
    ----------
    alphabet : list of (int, int)
        Required characters (code points) with their counts, by count descending.
    text_bytes : float
        Size of the normalized text, with one more byte at the end of each sentence.
    chunks : iterable of Corpus, or None
        The seeding chunks, if the text is too large for one search of seeds.
    seed_text : Corpus or None
        The text in which seeds are looked for, and its characters, if it is another one.
    """

    @property
    def pretokens(self):
        """Number of pretokens: distinct ones, or sentences where pieces may cross white space."""
        return self.segmented.pretoken_count.size()

    @property
    def total_count(self):
        """The counts of all pretokens added up; the sum wraps at 2**64."""
        cdef uint64_t total = 0
        cdef int64_t count
        for count in self.segmented.pretoken_count:
            total += count
        return total

    def counted_pretokens(self):
        """Yield each pretoken (bytes) and its count, by count descending, then bytes ascending.

        Where pieces may cross white space, these are the sentences in the order of the text.
        """
        cdef size_t i
        for i in range(self.segmented.pretoken_count.size()):
            count = <uint64_t>self.segmented.pretoken_count[i]
            yield bytes(self.segmented.pretoken_text(i)), count

    @property
    def segments(self):
        """Number of distinct segments."""
        return self.segmented.segments_size()

    def segment_texts(self):
        """Return the texts of all distinct segments (bytes), in the order of their numbers."""
        cdef uint32_t i
        return [
            bytes(self.segmented.segment_text(i)) for i in range(self.segmented.segments_size())]

    def segments_of_pretokens(self):
        """Return how many segments each pretoken has, and the numbers of these segments.

        The pretokens are in the order of `counted_pretokens`.
        """
        cdef size_t i
        lengths = [
            self.segmented.pretoken_begin[i + 1] - self.segmented.pretoken_begin[i]
            for i in range(self.segmented.pretoken_count.size())]
        return lengths, self.segmented.pretoken_segments

    def bpe_segments(self):
        """Return the `SegmentCounts` in the order in which segments first occur in the pretokens.

        The corpus is empty afterwards.

        Raises
        ------
        TrainingError
            For a pretoken that is too long for the release.
        """
        cdef SegmentCounts found = SegmentCounts.of_rule(self.pretoken_rule)
        try:
            with nogil:
                found.segments = count_bpe_segments(move(self.segmented), found.rule)
                self.segmented = SegmentedCorpus()
        except RuntimeError as error:
            found.fail(error)
        return found

    def segment_counts(self):
        """Return the `SegmentCounts`, and leave the corpus as it is.

        Neither `drop_uses` nor `drop_texts` may have been called before.
        """
        cdef SegmentCounts found = SegmentCounts.of_rule(self.pretoken_rule)
        with nogil:
            found.segments = count_segments(self.segmented)
        return found

    def drop_uses(self):
        """Free what only the search for seeds needs."""
        self.segmented.uses.clear()
        self.segmented.uses.shrink_to_fit()

    def drop_texts(self):
        """Free the texts of the segments. `segments` is 0 afterwards."""
        self.segmented.segments = StringList()


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


@final
cdef class Chunk:
    """The sentences of one seeding chunk."""

    cdef CChunk chunk

    @property
    def batches(self):
        """The batches that hold its sentences, ascending."""
        return [part.batch for part in self.chunk.parts]

    @property
    def sentences(self):
        """Number of sentences."""
        return self.chunk.size

    def selection(self, size_t batch):
        """Return the `Selection` of the sentences of a batch."""
        cdef Selection selection = Selection()
        with nogil:
            selection.selection = self.chunk.selection(batch)
        return selection

    def drop_others(self, Batch batch not None):
        """Drop all sentences of a batch, except the last sentence of the chunk."""
        self.chunk.drop_others(batch.log)

    def merge(self, Counts counts not None, workers):
        """Merge the counts of the chunk, which hold only its sentences and no empty sentence."""
        if not counts.plan.keeps_order:
            counts.close_with_last_sentence(workers)
            return
        counts.append_sentences(workers)
        with nogil:
            self.chunk.arrange(counts.order)
        counts.close_sentences()
        counts.order = SentenceOrder()


@final
cdef class ChunkPlan:
    """Where the text is cut into chunks.

    Parameters
    ----------
    alphabet : list of (int, int)
        Required characters and their counts.
    chunk_bytes : int
        A chunk is full when it holds so many bytes.
    batches : int
        How many batches the text has.
    """

    cdef unique_ptr[CChunkPlan] plan

    def __init__(self, list alphabet not None, uint64_t chunk_bytes, size_t batches):
        cdef vector[char32_t] required
        for c, _ in alphabet:
            required.push_back(c)
        self.plan.reset(new CChunkPlan(required, chunk_bytes, batches))

    def measure(self, Batch batch not None, Counter counter not None):
        """Note the sizes of the sentences of a batch.

        The batch must hold its pretokens and be the only one that the counter has counted. Workers
        may call this at the same time.
        """
        cdef PretokenTable* pretokens = new PretokenTable(0)
        try:
            with nogil:
                dereference(counter.counter).table().merge_into(dereference(pretokens), True)
                dereference(self.plan).measure(
                    batch.log, dereference(counter.counter).table(), dereference(pretokens))
        finally:
            del pretokens

    def cut(self):
        """Cut the text, after all its batches were measured."""
        with nogil:
            dereference(self.plan).cut()

    @property
    def sentences(self):
        """Number of sentences in all chunks."""
        return dereference(self.plan).sentences()

    def __len__(self):
        return dereference(self.plan).chunks()

    def chunk(self, size_t number):
        """Return a `Chunk`."""
        cdef Chunk chunk = Chunk()
        with nogil:
            chunk.chunk = dereference(self.plan).chunk(number)
        return chunk
