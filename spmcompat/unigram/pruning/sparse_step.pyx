"""The M-step of sparse pruning: takes a penalty off every expected count."""

from libc.stdint cimport uint32_t
from libcpp.vector cimport vector

from spmcompat.unigram.em.e_step cimport ExpectedCounts
from spmcompat.unigram.lattice.lattices cimport NewIds, kDropped
from spmcompat.unigram.pieces cimport Pieces


cdef extern from "spmcompat/unigram/pieces.hpp" namespace "spmcompat" nogil:
    void to_log_probabilities(vector[float]& score)


cdef extern from "<algorithm>" namespace "std" nogil:
    void nth_element[Iterator, Compare](
        Iterator first, Iterator nth, Iterator last, Compare compare)


cdef extern from "<functional>" namespace "std" nogil:
    cdef cppclass greater[T]:
        greater()


# The smallest count of a piece, so that its logarithm is finite; as in sentencepiece 0.2.3.
cdef float LEAST_COUNT = 1e-4


def ranked_count(ExpectedCounts counts not None, size_t rank):
    """Return the count at an index of all counts sorted descending."""
    if rank >= counts.sums.expected.size():
        raise IndexError(rank)
    cdef vector[float] ranked
    with nogil:
        # Cython would not catch what an assignment throws.
        ranked.assign(counts.sums.expected.begin(), counts.sums.expected.end())
        nth_element(ranked.begin(), ranked.begin() + rank, ranked.end(), greater[float]())
    return ranked[rank]


def sparse_step(Pieces pieces not None, ExpectedCounts counts not None, float penalty):
    """Return the new pieces in their old order, and the new ids of the old ones.

    Parameters
    ----------
    pieces : Pieces
        The pieces that were counted.
    counts : ExpectedCounts
        Their expected counts.
    penalty : float
        Taken off every count (float32); pieces with smaller counts are dropped.

    Returns
    -------
    new_pieces : Pieces
        Scores are the logarithms of the counts' shares after the penalty, with counts of at least
        0.0001.
    new_ids : NewIds
        From old to new ids.

    Notes
    -----
    This is the soft threshold of an L1 penalty (Tibshirani 1996). As sentencepiece 0.2.3 rounds:
    the difference in float32, the sum in double, each logarithm of a share to float32 once.
    """
    cdef Pieces new_pieces = Pieces()
    cdef NewIds new_ids = NewIds()
    cdef float count
    cdef uint32_t i
    cdef vector[uint32_t] selected
    with nogil:
        new_ids.ids.resize(counts.sums.expected.size(), kDropped)
        for i in range(counts.sums.expected.size()):
            if counts.sums.expected[i] >= penalty:
                new_ids.ids[i] = selected.size()
                selected.push_back(i)
        new_ids.ids.push_back(selected.size())
        new_pieces.pieces = pieces.pieces.select(selected)
        for i in range(selected.size()):
            count = counts.sums.expected[selected[i]] - penalty
            new_pieces.pieces.score[i] = max(LEAST_COUNT, count)
        to_log_probabilities(new_pieces.pieces.score)
    return new_pieces, new_ids
