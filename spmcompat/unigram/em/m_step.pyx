"""The M-step: computes new scores from expected counts, and drops rare pieces.

`sparse_step` is the M-step of sparse pruning, which takes a penalty off every expected count.
"""

from cython.operator cimport dereference
from libc.stdint cimport uint32_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.unordered_set cimport unordered_set
from libcpp.vector cimport vector

from spmcompat.runtime.crew cimport CCrew, Crew, start_stage
from spmcompat.unigram.em.e_step cimport ExpectedCounts
from spmcompat.unigram.lattice.lattices cimport take_kept
from spmcompat.unigram.pieces cimport CPieces, KeptPieces, Pieces


cdef extern from "spmcompat/unigram/em/m_step.hpp" namespace "spmcompat" nogil:
    cdef cppclass MStepRule:
        float threshold
        cbool ml
        cbool keep
        unordered_set[string] required

    KeptPieces c_m_step "spmcompat::m_step"(
        const CPieces& pieces, const vector[float]& counts, const MStepRule& rule, CCrew& crew)


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
    cdef Crew crew = workers.crew
    cdef MStepRule rule
    cdef KeptPieces kept
    rule.threshold = threshold
    rule.ml = ml
    rule.keep = keep
    rule.required = required
    start_stage(
        dereference(crew.crew), kept, c_m_step, pieces.pieces, counts.sums.expected, rule)
    crew.await_stage()
    return take_kept(kept)


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
    cdef KeptPieces kept
    cdef float count
    cdef uint32_t i
    cdef vector[uint32_t] selected
    with nogil:
        for i in range(counts.sums.expected.size()):
            if counts.sums.expected[i] >= penalty:
                selected.push_back(i)
        kept = KeptPieces(pieces.pieces, selected)
        for i in range(selected.size()):
            count = counts.sums.expected[selected[i]] - penalty
            kept.pieces.score[i] = max(LEAST_COUNT, count)
        to_log_probabilities(kept.pieces.score)
    return take_kept(kept)
