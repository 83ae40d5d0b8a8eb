"""Converts counts to a corpus: the distinct segments that the trainers read.

This call replaces the characters outside the alphabet, and cuts the pretokens into segments
(cut.hpp, and old_releases/text_end.hpp)::

    corpus = cut(counts, alphabet, plan, workers)

`ChunkPlan` divides a text that is too large for a single search for seeds (chunk_plan.hpp).
"""

from cython cimport final
from cython.operator cimport dereference
from libc.stdint cimport uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.utility cimport move
from libcpp.vector cimport vector

from spmcompat.counting.counts cimport (
    Batch, BatchLog, BatchSelection, CountedText, Counter, Counts, PretokenCounts, Selection,
    WorkerTable)
from spmcompat.plan cimport char32_t, CCountingPlan
from spmcompat.runtime.threads cimport CCancelFlag, CCrew, Crew, start_change, start_stage

from spmcompat.errors import TooLargeError, TrainingError
from spmcompat.runtime.threads import return_freed_memory
from spmcompat.segments.coverage import whole_alphabet
from spmcompat.unicode.marks import SPACE_MARK


cdef extern from "spmcompat/segments/chunk_plan.hpp" namespace "spmcompat" nogil:
    cdef cppclass Part "spmcompat::Chunk::Part":
        size_t batch

    cdef cppclass CChunk "spmcompat::Chunk":
        size_t size
        vector[Part] parts
        BatchSelection selection(size_t batch) except +

    cdef cppclass CPretokenSizes "spmcompat::PretokenSizes":
        CPretokenSizes()

    cdef cppclass CChunkPlan "spmcompat::ChunkPlan":
        CChunkPlan(const vector[char32_t]& alphabet, uint64_t chunk_bytes, size_t batches) except +
        void measure(
            const BatchLog& log, WorkerTable& table, CPretokenSizes& pretokens,
            const CCancelFlag& cancel) except +
        size_t chunks()
        uint64_t sentences()
        CChunk chunk(size_t number) except +

    void merge_chunk(
        unique_ptr[PretokenCounts]& merged, CountedText& text, const CChunk& chunk,
        const CCountingPlan& plan, CCrew& crew)
    void cut_into_chunks "&spmcompat::ChunkPlan::cut"(CCrew& crew)


@final
cdef class SegmentCounts:
    """Distinct segments with their counts."""

    @staticmethod
    cdef SegmentCounts of_rule(const PieceRule& rule):
        """Return empty counts of segments, with the rule that cuts the segments."""
        cdef SegmentCounts counts = SegmentCounts()
        counts.rule = rule
        return counts

    def __len__(self):
        return self.segments.size()

    cdef await_stage(self, Crew crew):
        """Wait for the end of the stage that finds the segments."""
        try:
            crew.await_stage()
        except OverflowError as error:
            raise TooLargeError(
                f"{error}: this release of sentencepiece stores positions in 16 bits, up to "
                f"{self.rule.bpe_longest_pretoken} characters. Lower --max_sentence_length, or "
                "choose another release with compat."
            ) from None


@final
cdef class Corpus:
    """The distinct segments, the pretokens as sequences of segments, and the alphabet.

    Attributes
    ----------
    alphabet : list of (int, int)
        Required characters (code points) with their counts, by descending count.
    text_bytes : float
        Size of the normalized text, plus one byte for the end of each sentence.
    chunks : iterable of Corpus, or None
        The seeding chunks, if the text is too large for a single search for seeds.
    seed_text : Corpus or None
        The corpus for seeding, if seeding reads the text by other rules than EM.
    """

    @property
    def pretokens(self):
        """Number of distinct pretokens, or of sentences if pieces may cross white space."""
        return self.segmented.pretoken_count.size()

    @property
    def total_count(self):
        """The sum of the counts of all pretokens. It wraps at 2**64."""
        cdef uint64_t total = 0
        cdef int64_t count
        for count in self.segmented.pretoken_count:
            total += count
        return total

    def counted_pretokens(self):
        """Yield each pretoken (bytes) and its count, by descending count, then by bytes.

        If pieces may cross white space, yield the sentences in the order of the text instead.
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
        """Return the texts (bytes) of all distinct segments, by index."""
        cdef uint32_t i
        return [
            bytes(self.segmented.segment_text(i)) for i in range(self.segmented.segments_size())]

    def segments_of_pretokens(self):
        """Return the number of segments of each pretoken, and the indexes of these segments.

        The pretokens are in the order of `counted_pretokens`.
        """
        cdef size_t i
        lengths = [
            self.segmented.pretoken_begin[i + 1] - self.segmented.pretoken_begin[i]
            for i in range(self.segmented.pretoken_count.size())]
        return lengths, self.segmented.pretoken_segments

    def bpe_segments(self, workers):
        """Return the `SegmentCounts`; segments are in the order of their first occurrence.

        The corpus is empty afterwards.

        Raises
        ------
        TrainingError
            If a pretoken is too long for the release.
        """
        cdef Crew crew = workers.crew
        cdef SegmentCounts found = SegmentCounts.of_rule(self.rule)
        start_stage(
            dereference(crew.crew), found.segments, count_bpe_segments, self.segmented, found.rule)
        found.await_stage(crew)
        return found

    def segment_counts(self, workers):
        """Return the `SegmentCounts` without changing the corpus.

        `drop_uses` and `drop_texts` must not have been called before.
        """
        cdef Crew crew = workers.crew
        cdef SegmentCounts found = SegmentCounts.of_rule(self.rule)
        start_stage(dereference(crew.crew), found.segments, count_segments, self.segmented)
        crew.await_stage()
        return found

    def drop_uses(self):
        """Free the counts and followers of the segments, which only seeding needs."""
        self.segmented.uses.clear()
        self.segmented.uses.shrink_to_fit()

    def drop_texts(self):
        """Free the texts of the segments. `segments` is 0 afterwards."""
        self.segmented.segments = StringList()


def lacks_pretokens(Counts counts not None, list alphabet not None, plan not None):
    """Return whether the pretokens of each sentence must be joined, but are not in the counts."""
    if _joins_pretokens(plan, alphabet) and not counts.has_pretokens:
        return True
    return counts.seeds is not None and lacks_pretokens(counts.seeds, alphabet, plan.seeds)


def _joins_pretokens(plan, list alphabet):
    """Return whether the pretokens of each sentence must be joined.

    This is necessary if the space mark is not a required character, because it then becomes the
    unknown mark, which does not end a pretoken. Pretokens are never joined if boundary marks end
    pretokens.
    """
    return (
        plan.counting.keeps_contexts
        and not plan.counting.whole_sentences
        and not plan.cutting.spaces_apart
        and not plan.cutting.boundaries_end_pretokens
        and not any(c == ord(SPACE_MARK) for c, _ in alphabet))


def cut(Counts counts not None, list alphabet not None, plan not None, workers):
    """Return the `Corpus` on which the trainers train. The counts are empty afterwards.

    Parameters
    ----------
    counts : Counts
        The counts, including the pretokens of each sentence if pretokens must be joined.
    alphabet : list of (int, int)
        Required characters and their counts.
    plan : Plan
        How the text was counted.
    workers : Workers
        The worker threads.
    """
    cdef Crew crew = workers.crew
    counts.merge(workers)
    if _joins_pretokens(plan, alphabet):
        if not counts.has_pretokens:
            raise TrainingError("INTERNAL: the pretokens of the sentences were not kept")
        start_change(
            dereference(crew.crew), counts.pretokens, join_sentences, counts.order,
            counts.plan.counting.uniform_starts)
        crew.await_stage()
    corpus, part_characters = _cut(counts, alphabet, workers, plan.cutting.em_reads_sentences, True)
    if counts.seeds is not None:
        corpus.seed_text = cut(counts.seeds, alphabet, plan.seeds, workers)
        if plan.cutting.removed_delimiter:
            # As in the reference, the alphabet for seeding has the character counts of the text
            # itself, not those of the text for seeding, which may contain each sentence twice.
            corpus.seed_text.alphabet = whole_alphabet(
                part_characters, plan.cutting.boundary)
    return corpus


def cut_seeding_chunk(Counts counts not None, list alphabet not None, workers):
    """Return a `Corpus` without pretokens, for seeding. The counts are empty afterwards.

    Unlike `cut`, this function never joins the pretokens of a sentence. The segments would be the
    same: there is an unknown mark between joined pretokens, and it ends a segment.
    """
    corpus, _ = _cut(counts, alphabet, workers, False, False)
    return corpus


cdef tuple _cut(Counts counts, list alphabet, workers, cbool in_order, cbool with_pretokens):
    """Return the `Corpus`, and the counts of the characters that are not in removed delimiters.

    The second result is empty if the plan does not remove delimiters.
    """
    cdef Crew crew = workers.crew
    cdef Corpus corpus = Corpus()
    cdef CutText found
    cdef vector[char32_t] required
    _add_characters(alphabet, required)
    start_stage(
        dereference(crew.crew), found, cut_counts, counts.pretokens, counts.order, required,
        counts.plan, in_order, with_pretokens)
    crew.await_stage()
    corpus.alphabet = alphabet
    corpus.rule = PieceRule(counts.plan.cutting)
    corpus.seed_tree_of_characters = counts.plan.seeding.seed_tree_of_characters
    corpus.segmented = move(found.corpus)
    corpus.text_bytes = found.text_bytes
    return_freed_memory()
    return corpus, dict(found.part_characters.counted())


cdef _add_characters(list alphabet, vector[char32_t]& characters):
    # The vector is a parameter: if it were returned, Cython would copy it, and would not catch an
    # exception that copying throws.
    for c, _ in alphabet:
        characters.push_back(c)


def bpe_segments(Counts counts not None, list alphabet not None, plan not None, workers):
    """Return the `SegmentCounts` on which BPE trains. The counts are empty afterwards.

    The parameters are those of `cut`.

    Raises
    ------
    TrainingError
        If a pretoken is too long for the release.
    """
    cdef Crew crew = workers.crew
    cdef SegmentCounts found = SegmentCounts.of_rule(PieceRule(counts.plan.cutting))
    cdef vector[char32_t] required
    if plan.counting.keeps_contexts:
        return cut(counts, alphabet, plan, workers).bpe_segments(workers)
    _add_characters(alphabet, required)
    if plan.counting.cuts_segments:
        counts.cut(workers)
        start_stage(
            dereference(crew.crew), found.segments, cut_at_rare_characters, counts.segments,
            required)
    else:
        start_stage(
            dereference(crew.crew), found.segments, count_text_segments, counts.text, found.rule,
            required)
    found.await_stage(crew)
    return found


@final
cdef class Chunk:
    """The sentences of one seeding chunk."""

    cdef CChunk chunk

    @property
    def batches(self):
        """The indexes of the batches that contain sentences of the chunk, ascending."""
        return [part.batch for part in self.chunk.parts]

    @property
    def sentences(self):
        """Number of sentences."""
        return self.chunk.size

    def selection(self, size_t batch):
        """Return the `Selection` of the chunk's sentences in a batch."""
        cdef Selection selection = Selection()
        with nogil:
            selection.selection = self.chunk.selection(batch)
        return selection

    def merge(self, Counts counts not None, workers):
        """Merge the counts of the chunk.

        The counts must contain only sentences of the chunk, and no empty sentence.
        """
        cdef Crew crew = workers.crew
        start_change(
            dereference(crew.crew), counts.pretokens, merge_chunk, counts.text, self.chunk,
            counts.plan.counting)
        crew.await_stage()
        return_freed_memory()


@final
cdef class PretokenSizes:
    """The sizes of the pretokens of one counter, which `ChunkPlan.measure` fills."""

    cdef CPretokenSizes sizes


@final
cdef class ChunkPlan:
    """Divides a text into seeding chunks.

    Parameters
    ----------
    alphabet : list of (int, int)
        Required characters and their counts.
    chunk_bytes : int
        The size at which a chunk is full.
    batches : int
        The number of batches of the text.
    """

    cdef unique_ptr[CChunkPlan] plan

    def __init__(self, list alphabet not None, uint64_t chunk_bytes, size_t batches):
        cdef vector[char32_t] required
        _add_characters(alphabet, required)
        self.plan.reset(new CChunkPlan(required, chunk_bytes, batches))

    def measure(self, Batch batch not None, Counter counter not None,
                PretokenSizes sizes not None):
        """Record the sizes of the sentences of a batch.

        The batch must contain its pretokens. Several workers may call this method at the same time,
        with different batches.

        Parameters
        ----------
        batch : Batch
            The batch.
        counter : Counter
            The counter that counted the batch.
        sizes : PretokenSizes
            The sizes of the pretokens of this counter. A new counter needs a new object.
        """
        with nogil:
            dereference(self.plan).measure(
                batch.log, dereference(counter.counter).table(), sizes.sizes,
                counter.rules.cancel.flag)

    def cut(self, workers):
        """Cut the text into chunks. All its batches must have been measured."""
        cdef Crew crew = workers.crew
        start_change(dereference(crew.crew), dereference(self.plan), cut_into_chunks)
        crew.await_stage()

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
