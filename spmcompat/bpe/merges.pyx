"""The merges of BPE.

For example, the first 8,000 merges of a text::

    pieces = [piece for piece, _, _ in find_merges(segments, 8000, workers)]
"""

from cython.operator cimport dereference
from libc.stdint cimport uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from spmcompat.runtime.threads cimport CCrew, Crew, start_stage
from spmcompat.segments.corpus cimport CSegmentCounts, PieceRule, SegmentCounts

from spmcompat.errors import TooLargeError


cdef extern from "spmcompat/bpe/corpus_encoder.hpp" namespace "spmcompat" nogil:
    ctypedef vector[pair[string, float]] ScoredPieces
    vector[uint64_t] cpp_count_in_encoded "spmcompat::count_in_encoded"(
        CSegmentCounts& segments, const ScoredPieces& pieces, CCrew& crew)


cdef extern from "spmcompat/bpe/merges.hpp" namespace "spmcompat" nogil:
    cdef cppclass Merge:
        string piece
        uint64_t count
        uint32_t left_length

    vector[Merge] cpp_find_merges "spmcompat::find_merges"(
        CSegmentCounts& segments, const PieceRule& rule, size_t wanted, cbool active_set,
        const ScoredPieces* initial, CCrew& crew)


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


def find_merges(
    SegmentCounts segments not None, size_t wanted, workers not None, *, bint active_set=False,
    initial=None, stage=None,
):
    """Return the merges of a text: each joins the most frequent pair of neighbouring symbols.

    Parameters
    ----------
    segments : SegmentCounts
        The text. No pair crosses the ends of a segment. Afterwards, `segments` is empty.
    wanted : int
        The number of merges.
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
    stage : Stage, optional
        Shows the progress.

    Returns
    -------
    list of (bytes, int, int)
        The text of each merge, the count of its pair when it was merged, and the number of
        characters in the left part of the pair; fewer than wanted if no pair is left.
    """
    cdef Crew crew = workers.crew
    cdef ScoredPieces pieces
    cdef const ScoredPieces* given_pieces = NULL
    cdef vector[Merge] found
    cdef size_t i
    if initial is not None:
        pieces = initial
        given_pieces = &pieces
    start_stage(
        dereference(crew.crew), found, cpp_find_merges, segments.segments, segments.rule, wanted,
        active_set, given_pieces)
    await_text(crew, stage)
    return [
        (<bytes>found[i].piece, found[i].count, found[i].left_length) for i in range(found.size())]


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
        one.development = NULL
        if development is not training:
            one.development = &development.segments
        rule = training.rule
        texts.push_back(one)
    options.wanted = wanted
    options.first_merges = first_merges
    options.window = window
    options.most_choices = most_choices
    start_stage(dereference(crew.crew), found, cpp_parity_merges, texts, rule, options)
    await_text(crew, stage)
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
    await_text(crew)
    return counts


cdef await_text(Crew crew, stage=None):
    try:
        crew.await_stage(stage)
    except OverflowError as error:
        raise TooLargeError(
            f"{error}: it has 2**31 characters or more. Give less text or sample it "
            "(--input_sentence_size).") from None
