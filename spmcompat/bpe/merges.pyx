"""The merges of BPE.

For example, the first 8,000 merges of a text::

    merges = Merges(segments, 8000, workers)
    merges.make(8000)
    pieces = merges.pieces(8000)
"""

from cython cimport final

from cython.operator cimport dereference
from libc.stdint cimport uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from spmcompat.runtime.threads cimport CCrew, Crew, start_change, start_stage
from spmcompat.segments.corpus cimport CSegmentCounts, PieceRule, SegmentCounts

from spmcompat.errors import TooLargeError


cdef extern from "spmcompat/bpe/corpus_encoder.hpp" namespace "spmcompat" nogil:
    ctypedef vector[pair[string, float]] ScoredPieces
    vector[uint64_t] cpp_count_in_encoded "spmcompat::count_in_encoded"(
        CSegmentCounts& segments, const ScoredPieces& pieces, CCrew& crew)


cdef extern from "spmcompat/bpe/merges.hpp" namespace "spmcompat" nogil:
    cdef cppclass CMerges "spmcompat::Merges":
        void finish() except +
        size_t size()
        string piece(size_t merge) except +
        uint64_t count(size_t merge)
        uint32_t left_length(size_t merge)

    unique_ptr[CMerges] merges_of_text "spmcompat::Merges::of_text"(
        CSegmentCounts& segments, const PieceRule& rule, size_t expected, cbool active_set,
        const ScoredPieces* initial, CCrew& crew)
    void make_merges "&spmcompat::Merges::make"(size_t wanted, CCrew& crew)


cdef extern from "spmcompat/bpe/parity_merges.hpp" namespace "spmcompat" nogil:
    cdef cppclass LanguageTexts:
        LanguageTexts()
        CSegmentCounts* training
        CSegmentCounts* development
        uint64_t tokens
        uint64_t ratio
        uint64_t ratio_divisor
        uint64_t unit

    cdef cppclass ParityMergeOptions:
        ParityMergeOptions()
        size_t wanted
        size_t first_merges
        size_t window
        size_t most_choices

    cdef cppclass ParityMerges:
        ParityMerges()
        vector[string] pieces
        vector[uint32_t] chosen_by
        vector[uint64_t] tokens

    ParityMerges cpp_parity_merges "spmcompat::parity_merges"(
        const vector[LanguageTexts]& languages, const PieceRule& rule,
        const ParityMergeOptions& options, CCrew& crew)


@final
cdef class Merges:
    """The merges of a text: each joins the most frequent pair of neighbouring symbols.

    Parameters
    ----------
    segments : SegmentCounts
        The text. No pair crosses the ends of a segment. Afterwards, `segments` is empty.
    expected : int
        The approximate number of merges. It only affects time and memory.
    workers : Workers
        The worker threads. All of them fill the text and look for its pairs; one of them merges.
    active_set : bool, optional
        Whether merges are chosen from an active set of pairs, as in releases up to 0.2.1. In this
        case, the segments must be in the order in which they first occur in the corpus, and must
        include those of a single character.
    initial : iterable of (bytes, float), optional
        Pieces and scores of a model. The text is encoded with them before the first merge. They do
        not count as merges, and cannot be combined with `active_set`. With initial pieces, pairs
        that no longer occur are never merged.
    """

    cdef Crew crew
    cdef unique_ptr[CMerges] merges

    def __init__(
        self, SegmentCounts segments not None, size_t expected, workers not None,
        bint active_set=False, initial=None,
    ):
        cdef ScoredPieces pieces
        cdef const ScoredPieces* given_pieces = NULL
        if initial is not None:
            pieces = initial
            given_pieces = &pieces
        self.crew = workers.crew
        start_stage(
            dereference(self.crew.crew), self.merges, merges_of_text, segments.segments,
            segments.rule, expected, active_set, given_pieces)
        try:
            self.crew.await_stage()
        except OverflowError as error:
            raise _too_large(error) from None
        segments.segments = CSegmentCounts()

    def __len__(self):
        return dereference(self.merges).size()

    def __iter__(self):
        """Yield the text (bytes) of each merge, and the count of its pair when it was merged."""
        cdef size_t i
        for i in range(dereference(self.merges).size()):
            yield bytes(dereference(self.merges).piece(i)), dereference(self.merges).count(i)

    def pieces(self, size_t size):
        """Return the texts of the first `size` merges as bytes, or all texts if there are fewer."""
        cdef size_t i
        return [
            <bytes>dereference(self.merges).piece(i)
            for i in range(min(size, dereference(self.merges).size()))]

    def left_length(self, size_t merge):
        """Return the number of characters in the left part of the pair of a merge."""
        if merge >= dereference(self.merges).size():
            raise IndexError(merge)
        return dereference(self.merges).left_length(merge)

    def make(self, size_t wanted):
        """Make `wanted` more merges, or fewer if no pair is left, and return their number."""
        cdef size_t before = len(self), size = before + wanted
        start_change(
            dereference(self.crew.crew), dereference(self.merges), make_merges, size)
        self.crew.await_stage()
        return len(self) - before

    def finish(self):
        """Free all memory except that of the merges. Nothing can be merged afterwards."""
        with nogil:
            dereference(self.merges).finish()


def parity_merges(
    languages, size_t wanted, workers, *, size_t first_merges=0, size_t window=0,
    size_t most_choices=0, stage=None,
):
    """Make parity-aware merges: the language with the highest cost chooses each pair.

    The cost of a language is the number of tokens in its development text, times its ratio, divided
    by its unit.

    Parameters
    ----------
    languages : sequence of (SegmentCounts, SegmentCounts, int, Fraction, int)
        For each language: the text for training, the development text, the number of characters in
        the development text, the ratio, whose numerator and denominator must be above 0 and below
        2**64, and the unit, which must not be 0. Afterwards, the texts are empty. The two texts of
        a language may be the same object, but no other two texts.
    wanted : int
        The number of merges.
    workers : Workers
        One of these threads merges.
    first_merges : int, optional
        The number of merges at the beginning that are chosen by the count of a pair in all
        languages together.
    window, most_choices : int, optional
        If `window` is above 0, a language cannot choose if it made more than `most_choices` of the
        last `window` choices.
    stage : Stage, optional
        Shows the progress.

    Returns
    -------
    pieces : list of bytes
        The texts of the merges; fewer than wanted if no pair is left.
    chosen_by : list of int
        For each merge, the index of the language that chose it. For the first merges, which no
        language chose, the number of languages.
    tokens : list of int
        The number of tokens in each development text after the last merge.
    """
    cdef Crew crew = workers.crew
    cdef vector[LanguageTexts] texts
    cdef LanguageTexts one
    cdef SegmentCounts training, development
    cdef ParityMergeOptions options
    cdef PieceRule rule
    cdef ParityMerges found
    for training, development, one.tokens, ratio, one.unit in languages:
        one.ratio, one.ratio_divisor = ratio.numerator, ratio.denominator
        one.training = &training.segments
        one.development = &development.segments
        rule = training.rule
        texts.push_back(one)
    options.wanted = wanted
    options.first_merges = first_merges
    options.window = window
    options.most_choices = most_choices
    start_stage(dereference(crew.crew), found, cpp_parity_merges, texts, rule, options)
    crew.await_stage(stage)
    return found.pieces, found.chosen_by, found.tokens


def count_in_encoded(SegmentCounts segments not None, pieces, workers):
    """Return how often each piece occurs in a text if sentencepiece encodes the text.

    Parameters
    ----------
    segments : SegmentCounts
        The text. Afterwards, `segments` is empty.
    pieces : iterable of (bytes, float)
        Pieces and scores of a model.
    workers : Workers
        The worker threads.

    Returns
    -------
    list of int
        The count of each piece, in the order of `pieces`; 0 for pieces of a single character.
    """
    cdef Crew crew = workers.crew
    cdef ScoredPieces scored = pieces
    cdef vector[uint64_t] counts
    start_stage(
        dereference(crew.crew), counts, cpp_count_in_encoded, segments.segments, scored)
    try:
        crew.await_stage()
    except OverflowError as error:
        raise _too_large(error) from None
    return counts


def _too_large(error):
    return TooLargeError(
        f"{error}: it has 2**31 characters or more. Give less text or sample it "
        "(--input_sentence_size).")
