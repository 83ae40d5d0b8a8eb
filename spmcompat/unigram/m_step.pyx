"""The M-step: new scores from expected counts, and rare pieces dropped."""

from libc.stdint cimport uint32_t
from libcpp.vector cimport vector

from spmcompat.unigram.e_step cimport Counts, NewIds
from spmcompat.unigram.pieces cimport Pieces


cdef extern from "log_math.hpp" namespace "spmcompat" nogil:
    double digamma(double x)


cdef extern from "piece_chains.hpp" namespace "spmcompat" nogil:
    const uint32_t kDropped


def m_step(Pieces pieces not None, Counts counts not None, float threshold=0.5):
    """Return the new pieces in their old order, and the new ids of the old ones.

    Parameters
    ----------
    pieces : Pieces
        The pieces that were counted.
    counts : Counts
        Their expected counts.
    threshold : float
        Pieces expected less often are dropped.

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
        new_ids.ids.assign(counts.sums.expected.size(), kDropped)
        for i in range(counts.sums.expected.size()):
            count = counts.sums.expected[i]
            if count < threshold:
                continue
            total += count
            new_ids.ids[i] = selected.size()
            selected.push_back(i)
        new_ids.ids.push_back(selected.size())
    new_pieces = Pieces()
    with nogil:
        new_pieces.pieces = pieces.pieces.select(selected)
        log_total = <float>digamma(total)
        for i in range(selected.size()):
            new_pieces.pieces.score[i] = <float>(
                digamma(counts.sums.expected[selected[i]]) - log_total)
    return new_pieces, new_ids
