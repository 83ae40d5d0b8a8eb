"""The E-step and the M-step.

For example, one step of EM::

    counts = expected_counts(lattices, partial_sums, workers)
    pieces, new_ids = m_step(lattices.pieces, counts, workers)
    lattices.renumber(pieces, new_ids, workers)

`best_path_counts` counts the pieces of the best segmentations instead. `sparse_step` is the M-step
of sparse pruning, which subtracts a penalty from every expected count.
"""

from cython cimport final
from cython.operator cimport dereference
from libc.stdint cimport uint32_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.unordered_set cimport unordered_set
from libcpp.vector cimport vector

from spmcompat.runtime.threads cimport CCrew, Crew, start_stage
from spmcompat.unigram.lattice.lattices cimport Lattices, take_kept
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


@final
cdef class ExpectedCounts:
    """The expected count of each piece in the corpus, or its count in the best segmentations."""

    def __len__(self):
        return self.sums.expected.size()

    def __getitem__(self, size_t piece):
        if piece >= self.sums.expected.size():
            raise IndexError(piece)
        return self.sums.expected[piece]

    @property
    def objective(self):
        """The negative log likelihood per pretoken, as the reference logs it."""
        return self.sums.objective


def expected_counts(Lattices lattices not None, size_t partial_sums, workers):
    """Return the expected counts (float32) of all pieces: `ExpectedCounts`.

    Pretoken i is added to partial sum i mod `partial_sums`; the partial sums are added in order.
    """
    cdef Crew crew = workers.crew
    cdef ExpectedCounts counts = ExpectedCounts()
    start_stage(
        dereference(crew.crew), counts.sums, c_expected_counts, lattices.lattices, partial_sums)
    crew.await_stage()
    return counts


def best_path_counts(
        Lattices lattices not None, size_t partial_sums, workers, bint single_sum=False):
    """Return how often each piece is in the best segmentations: `ExpectedCounts`.

    The counts are added up in the same order as the expected counts. With `single_sum`, all
    pretokens are added to one sum: first the pretokens of the first partial sum, and so on.
    """
    cdef Crew crew = workers.crew
    cdef ExpectedCounts counts = ExpectedCounts()
    start_stage(
        dereference(crew.crew), counts.sums, c_best_path_counts, lattices.lattices, partial_sums,
        single_sum)
    crew.await_stage()
    return counts


def log_likelihood(Lattices lattices not None, workers):
    """Return the log likelihood of the corpus, over all segmentations, in nats.

    The sums are computed in double precision, in the same order for any number of workers.
    """
    cdef Crew crew = workers.crew
    cdef double likelihood = 0
    start_stage(dereference(crew.crew), likelihood, c_log_likelihood, lattices.lattices)
    crew.await_stage()
    return likelihood


def segment_log_likelihoods(Lattices lattices not None, workers):
    """Return the log likelihood of each segment of the corpus, over all segmentations, in nats.

    No piece crosses the ends of a segment. So the log likelihood of a text is the sum of the log
    likelihoods of its segments.
    """
    cdef Crew crew = workers.crew
    cdef vector[float] likelihoods
    start_stage(dereference(crew.crew), likelihoods, c_segment_log_likelihoods, lattices.lattices)
    crew.await_stage()
    return likelihoods


# Sparse pruning raises smaller counts to this number, so that their logarithms are finite, as in
# sentencepiece 0.2.3.
cdef float LEAST_COUNT = 1e-4


def m_step(
    Pieces pieces not None, ExpectedCounts counts not None, workers, float threshold=0.5,
    bint ml=False, bint keep=False, frozenset required=frozenset(),
):
    """Return the remaining pieces in their previous order, and the new ids of the old pieces.

    Parameters
    ----------
    pieces : Pieces
        The pieces that were counted.
    counts : ExpectedCounts
        The expected counts of the pieces.
    workers : Workers
        The worker threads.
    threshold : float
        Pieces whose expected count is below this number are dropped. If a piece that stays has a
        count below 0.01, the count is raised to 0.01.
    ml : bool
        Whether scores are maximum likelihood estimates, log(count) - log(sum of counts).
    keep : bool
        Whether all pieces stay. If so, expected counts below 0.5 are raised to 0.5.
    required : frozenset of bytes
        Pieces that always stay; they are treated as if `keep` were true.

    Returns
    -------
    new_pieces : Pieces
        Scores are digamma(count) - digamma(sum of counts), unless `ml` is true.
    new_ids : NewIds
        The new ids of the old pieces.

    Notes
    -----
    Using digamma instead of the logarithm acts as a sparse prior (Liang and Klein, 2007,
    "Structured Bayesian nonparametric models with variational inference"). Numbers are rounded as
    in sentencepiece 0.2.3: counts are added up in float32, in the order of the pieces; digamma is
    computed in double; only the digamma of the sum is rounded to float32 before the subtraction.
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
    """Return the count at index `rank` when all counts are sorted in descending order."""
    if rank >= counts.sums.expected.size():
        raise IndexError(rank)
    cdef vector[float] ranked
    with nogil:
        # Not `ranked = ...`: Cython does not catch C++ exceptions thrown by an assignment.
        ranked.assign(counts.sums.expected.begin(), counts.sums.expected.end())
        nth_element(ranked.begin(), ranked.begin() + rank, ranked.end(), greater[float]())
    return ranked[rank]


def sparse_step(Pieces pieces not None, ExpectedCounts counts not None, float penalty):
    """Return the remaining pieces in their previous order, and the new ids of the old pieces.

    Parameters
    ----------
    pieces : Pieces
        The pieces that were counted.
    counts : ExpectedCounts
        The expected counts of the pieces.
    penalty : float
        The number to subtract from every count (float32). Pieces with smaller counts are dropped.

    Returns
    -------
    new_pieces : Pieces
        The score of a piece is the logarithm of its share of the reduced counts. Reduced counts
        below 0.0001 are raised to 0.0001.
    new_ids : NewIds
        The new ids of the old pieces.

    Notes
    -----
    This is the soft threshold of an L1 penalty (Tibshirani 1996). Numbers are rounded as in
    sentencepiece 0.2.3: differences are computed in float32, their sum in double, and the logarithm
    of each share is rounded to float32 once.
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
