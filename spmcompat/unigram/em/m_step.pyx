"""The M-step: computes new scores from expected counts, and drops rare pieces."""

from libc.math cimport log
from libc.stdint cimport uint32_t
from libcpp.vector cimport vector

from spmcompat.unigram.em.e_step cimport ExpectedCounts
from spmcompat.unigram.lattice.lattices cimport NewIds, kDropped
from spmcompat.unigram.pieces cimport Pieces, piece_text


cdef extern from "spmcompat/unigram/lattice/log_math.hpp" namespace "spmcompat" nogil:
    double digamma(double x)


cdef size_t PART = 16384  # pieces that a worker takes at a time
cdef float LEAST_KEPT = 0.5  # smaller counts are raised to this for a piece that must stay
# Smaller counts are raised to this if the threshold does not drop the piece. The digamma of a small
# count x is about -1/x, and sums of float32 fail with such scores.
cdef float LEAST = 0.01


def m_step(
    Pieces pieces not None, ExpectedCounts counts not None, workers, float threshold=0.5,
    bint ml=False, bint keep=False, frozenset required=frozenset(),
):
    """Return the new pieces in their old order, and the new ids of the old ones.

    Parameters
    ----------
    pieces : Pieces
        The pieces that were counted.
    counts : ExpectedCounts
        Their expected counts.
    workers : Workers
        Real threads.
    threshold : float
        Pieces whose expected count is below this are dropped. Counts below 0.01 that are not
        dropped are raised to 0.01.
    ml : bool
        Whether scores are maximum likelihood estimates, log(count) - log(sum of counts).
    keep : bool
        Whether all pieces stay; expected counts below 0.5 are then raised to 0.5.
    required : frozenset of bytes
        Pieces that stay in any case, as with `keep`.

    Returns
    -------
    new_pieces : Pieces
        Scores are digamma(count) - digamma(sum of counts), unless `ml` is true.
    new_ids : NewIds
        From old to new ids.

    Notes
    -----
    The digamma function instead of the logarithm acts as a sparse prior (Liang and Klein, 2007,
    "Structured Bayesian nonparametric models with variational inference"). As sentencepiece
    0.2.3 rounds: the sum in float32, in the order of the pieces; digamma in double; digamma of
    the sum is rounded to float32.
    """
    cdef Pieces new_pieces
    cdef NewIds new_ids = NewIds()
    cdef float total = 0.0
    cdef float log_total
    cdef float count
    cdef uint32_t i
    cdef vector[uint32_t] selected
    cdef vector[char] stays
    _mark_pieces_that_stay(stays, pieces, counts, threshold, keep, required)
    with nogil:
        new_ids.ids.resize(counts.sums.expected.size(), kDropped)
        for i in range(counts.sums.expected.size()):
            count = counts.sums.expected[i]
            if not stays[i] and count < threshold:
                continue
            total += max(count, LEAST_KEPT if stays[i] else LEAST)
            new_ids.ids[i] = selected.size()
            selected.push_back(i)
        new_ids.ids.push_back(selected.size())
        log_total = <float>(log(total) if ml else digamma(total))
    new_pieces = Pieces()
    with nogil:
        new_pieces.pieces = pieces.pieces.select(selected)
        for i in range(selected.size()):
            count = counts.sums.expected[selected[i]]
            new_pieces.pieces.score[i] = max(count, LEAST_KEPT if stays[selected[i]] else LEAST)
    parts = (selected.size() + PART - 1) // PART
    workers.run(range(parts), lambda _, part: _score(new_pieces, part, log_total, ml))
    return new_pieces, new_ids


cdef _mark_pieces_that_stay(
    vector[char]& stays, Pieces pieces, ExpectedCounts counts, float threshold, bint keep,
    frozenset required
):
    """Mark the pieces that stay in any case. Required pieces with a high count need no mark."""
    # They are not returned, because Cython would not catch what the copy throws.
    cdef uint32_t i
    stays.resize(counts.sums.expected.size(), keep)
    if keep or not required:
        return
    for i in range(stays.size()):
        if counts.sums.expected[i] < max(threshold, LEAST_KEPT):
            stays[i] = bytes(piece_text(pieces.pieces, i)) in required


cdef _score(Pieces pieces, size_t part, float log_total, bint ml):
    """Turn the counts of one part into scores."""
    cdef size_t first = part * PART
    cdef size_t last = min(first + PART, pieces.pieces.score.size())
    cdef double count
    cdef size_t i
    with nogil:
        for i in range(first, last):
            count = pieces.pieces.score[i]
            pieces.pieces.score[i] = <float>((log(count) if ml else digamma(count)) - log_total)
