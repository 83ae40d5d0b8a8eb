"""The M-step: new scores from expected counts, and rare pieces dropped."""

from libc.math cimport log
from libc.stdint cimport uint32_t
from libcpp.vector cimport vector

from spmcompat.unigram.em.e_step cimport Counts, NewIds
from spmcompat.unigram.pieces cimport Pieces


cdef extern from "spmcompat/unigram/lattice/log_math.hpp" namespace "spmcompat" nogil:
    double digamma(double x)


cdef extern from "spmcompat/unigram/lattice/prefix_links.hpp" namespace "spmcompat" nogil:
    const uint32_t kDropped


cdef size_t PART = 16384  # pieces that a worker scores in one go
cdef float LEAST = 0.5  # count of a piece that is kept although less is expected of it
# What is expected less often is not expected at all: the digamma of it is no score any more.
cdef float NOTHING = 1e-6


def m_step(
    Pieces pieces not None, Counts counts not None, workers, float threshold=0.5,
    bint ml=False, bint keep=False,
):
    """Return the new pieces in their old order, and the new ids of the old ones.

    Parameters
    ----------
    pieces : Pieces
        The pieces that were counted.
    counts : Counts
        Their expected counts.
    workers : Workers
        Real threads.
    threshold : float
        Pieces expected less often are dropped, and those expected less than 0.000001 times.
    ml : bool
        Whether scores are those of maximum likelihood, log(count) - log(sum of counts).
    keep : bool
        Whether all pieces stay; those expected less than half a time count as half.

    Returns
    -------
    new_pieces : Pieces
        Scores are digamma(count) - digamma(sum of counts).
    new_ids : NewIds
        From old to new ids.

    Notes
    -----
    The digamma function instead of the logarithm acts as a sparse prior (Liang and Klein, 2007,
    "Structured Bayesian nonparametric models with variational inference"). As sentencepiece
    0.2.3 rounds: the sum in float32, in the order of the pieces, digamma in double, that of the
    sum rounded to float32 first.
    """
    cdef Pieces new_pieces
    cdef NewIds new_ids = NewIds()
    cdef float total = 0.0
    cdef float log_total
    cdef float count
    cdef uint32_t i
    cdef vector[uint32_t] selected
    with nogil:
        new_ids.ids.resize(counts.sums.expected.size(), kDropped)
        for i in range(counts.sums.expected.size()):
            count = counts.sums.expected[i]
            if keep:
                count = max(count, LEAST)
            elif count < threshold or count < NOTHING:
                continue
            total += count
            new_ids.ids[i] = selected.size()
            selected.push_back(i)
        new_ids.ids.push_back(selected.size())
        log_total = <float>(log(total) if ml else digamma(total))
    new_pieces = Pieces()
    with nogil:
        new_pieces.pieces = pieces.pieces.select(selected)
        for i in range(selected.size()):
            count = counts.sums.expected[selected[i]]
            new_pieces.pieces.score[i] = max(count, LEAST) if keep else count
    parts = (selected.size() + PART - 1) // PART
    workers.run(range(parts), lambda _, part: _score(new_pieces, part, log_total, ml))
    return new_pieces, new_ids


cdef _score(Pieces pieces, size_t part, float log_total, bint ml):
    """Go over from counts to scores."""
    cdef size_t first = part * PART
    cdef size_t last = min(first + PART, pieces.pieces.score.size())
    cdef double count
    cdef size_t i
    with nogil:
        for i in range(first, last):
            count = pieces.pieces.score[i]
            pieces.pieces.score[i] = <float>((log(count) if ml else digamma(count)) - log_total)
