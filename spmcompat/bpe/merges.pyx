"""The Python class around merges.hpp: it owns the merges and translates errors."""

from cython cimport final

from cython.operator cimport dereference
from libc.stdint cimport uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.utility cimport move, pair
from libcpp.vector cimport vector

from spmcompat.runtime.cancel cimport CancelFlag, CCancelFlag
from spmcompat.segments.corpus cimport CSegmentCounts, PieceRule, SegmentCounts

from spmcompat.errors import TrainingError


cdef extern from "spmcompat/bpe/encoder.hpp" namespace "spmcompat" nogil:
    ctypedef vector[pair[string, float]] ScoredPieces
    vector[uint64_t] cpp_count_in_encoded "spmcompat::count_in_encoded"(
        CSegmentCounts segments, const ScoredPieces& pieces) except +


cdef extern from "spmcompat/bpe/text_filler.hpp" namespace "spmcompat" nogil:
    cdef cppclass TextFiller:
        void measure(size_t part)
        void allocate() except +
        void write(size_t part) except +
        void number() except +
        void translate(size_t part)


cdef extern from "spmcompat/bpe/text_pairs.hpp" namespace "spmcompat" nogil:
    cdef cppclass TextPairs:
        void count(size_t part) except +
        void divide() except +
        void sort(size_t part)
        void find(size_t part) except +


cdef extern from "spmcompat/bpe/merges.hpp" namespace "spmcompat" nogil:
    cdef cppclass CMerges "spmcompat::Merges":
        CMerges(
            CSegmentCounts segments, const PieceRule& rule, size_t expected,
            cbool active_set, size_t parts) except +
        TextFiller& text_filler()
        void end_filling(const ScoredPieces* given) except +
        cbool must_record()
        TextPairs& begin_recording() except +
        void end_recording() except +
        void make(size_t wanted, const CCancelFlag& cancel) except +
        void finish() except +
        size_t size()
        string piece(size_t merge) except +
        uint64_t count(size_t merge)
        uint32_t left_length(size_t merge)


@final
cdef class Merges:
    """The merges of a text: each joins the most frequent pair of neighbouring symbols.

    Parameters
    ----------
    segments : SegmentCounts
        The text; no pair crosses from one segment to the next. It is empty afterwards.
    expected : int
        About how many merges will be made. This affects time and memory only.
    workers : Workers
        Real threads. One of them merges; all of them fill the text and look for its pairs.
    active_set : bool, optional
        Whether merges are chosen among an active set of pairs, as in releases up to 0.2.1. Then
        the segments must come in the order of the text, with all of its characters.
    given : iterable of (bytes, float), optional
        Pieces and scores of a model. Then the text is first encoded with them, as sentencepiece
        does, and merging goes on from there; these pieces are not merges here. Pairs that no
        longer occur are not merged then. It excludes `active_set`.
    """

    cdef object workers
    cdef object parts
    cdef unique_ptr[CMerges] merges
    cdef TextPairs* text_pairs  # while pairs are recorded

    def __init__(
        self, SegmentCounts segments not None, size_t expected, workers not None,
        bint active_set=False, given=None,
    ):
        self.workers = workers
        self.parts = range(workers.count)
        self.merges.reset(new CMerges(
            move(segments.segments), segments.rule.pieces, expected, active_set, workers.count))
        segments.segments = CSegmentCounts()
        self._fill(given)

    def __len__(self):
        return dereference(self.merges).size()

    def __iter__(self):
        """Yield the text (bytes) of each merge, and the count of its pair when it was merged."""
        cdef size_t i
        for i in range(dereference(self.merges).size()):
            yield bytes(dereference(self.merges).piece(i)), dereference(self.merges).count(i)

    def pieces(self, size_t size):
        """Return the texts (bytes) of the first merges, at most `size`."""
        cdef size_t i
        return [
            <bytes>dereference(self.merges).piece(i)
            for i in range(min(size, dereference(self.merges).size()))]

    def left_length(self, size_t merge):
        """Return how many characters of a merge come from the left part of its pair."""
        if merge >= dereference(self.merges).size():
            raise IndexError(merge)
        return dereference(self.merges).left_length(merge)

    def make(self, size_t wanted):
        """Make `wanted` more merges, or as many as there are; return how many."""
        cdef size_t before = len(self), after
        while not self.workers.cancel.is_set():
            if dereference(self.merges).must_record():
                self._record()
            self.workers.call(lambda: self._merge(before + wanted, self.workers.cancel))
            if not dereference(self.merges).must_record():
                break
        after = len(self)
        return after - before if after > before else 0

    def _fill(self, given):
        self.workers.run(self.parts, lambda _, part: self._measure_shards(part))
        self.workers.call(self._allocate_text)
        self.workers.run(self.parts, lambda _, part: self._write_shards(part))
        self.workers.call(self._number_characters)
        self.workers.run(self.parts, lambda _, part: self._translate_text(part))
        self.workers.call(lambda: self._end_filling(given))

    def _measure_shards(self, size_t part):
        with nogil:
            dereference(self.merges).text_filler().measure(part)

    def _allocate_text(self):
        try:
            with nogil:
                dereference(self.merges).text_filler().allocate()
        except RuntimeError as error:
            raise _too_large(error) from None

    def _write_shards(self, size_t part):
        with nogil:
            dereference(self.merges).text_filler().write(part)

    def _number_characters(self):
        with nogil:
            dereference(self.merges).text_filler().number()

    def _translate_text(self, size_t part):
        with nogil:
            dereference(self.merges).text_filler().translate(part)

    def _end_filling(self, given):
        cdef ScoredPieces pieces
        cdef const ScoredPieces* given_pieces = NULL
        if given is not None:
            pieces = given
            given_pieces = &pieces
        with nogil:
            dereference(self.merges).end_filling(given_pieces)

    def _record(self):
        self.workers.call(self._begin_recording)
        self.workers.run(self.parts, lambda _, part: self._count_symbols(part))
        self.workers.call(self._divide_positions)
        self.workers.run(self.parts, lambda _, part: self._sort_positions(part))
        self.workers.run(self.parts, lambda _, part: self._find_pairs(part))
        self.workers.call(self._end_recording)

    def _begin_recording(self):
        with nogil:
            self.text_pairs = &dereference(self.merges).begin_recording()

    def _count_symbols(self, size_t part):
        with nogil:
            self.text_pairs.count(part)

    def _divide_positions(self):
        with nogil:
            self.text_pairs.divide()

    def _sort_positions(self, size_t part):
        with nogil:
            self.text_pairs.sort(part)

    def _find_pairs(self, size_t part):
        with nogil:
            self.text_pairs.find(part)

    def _end_recording(self):
        with nogil:
            dereference(self.merges).end_recording()

    def _merge(self, size_t size, CancelFlag cancel):
        with nogil:
            dereference(self.merges).make(size, cancel.flag)

    def finish(self):
        """Free all memory but that of the merges. Nothing can be merged afterwards."""
        with nogil:
            dereference(self.merges).finish()


def count_in_encoded(SegmentCounts segments not None, given):
    """Return how often each piece stands in a text that is encoded as sentencepiece does.

    Parameters
    ----------
    segments : SegmentCounts
        The text. It is empty afterwards.
    given : iterable of (bytes, float)
        Pieces and scores of a model.

    Returns
    -------
    list of int
        The count of each piece, in their order; 0 for pieces of a single character.
    """
    cdef ScoredPieces pieces = given
    cdef vector[uint64_t] counts
    try:
        with nogil:
            counts = cpp_count_in_encoded(move(segments.segments), pieces)
            segments.segments = CSegmentCounts()
    except RuntimeError as error:
        raise _too_large(error) from None
    return counts


def _too_large(error):
    return TrainingError(
        f"{error}: it holds 2**31 characters or more. Give less text or sample it "
        "(--input_sentence_size).")
