"""The E-step: expected counts, and the counts of the best paths, over the lattices of a corpus.

For example, the expected counts of the pieces after one more step of EM::

    counts = expected_counts(lattices, lanes, workers)
    pieces, new_ids = m_step(lattices.pieces, counts, workers)
    lattices.renumber(pieces, new_ids, workers)
    counts = expected_counts(lattices, lanes, workers)
"""

from cython cimport final

from cython.operator cimport dereference

from spmcompat.runtime.crew cimport Crew, start_stage
from spmcompat.unigram.lattice.lattices cimport Lattices


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


def expected_counts(Lattices lattices not None, size_t lanes, workers):
    """Return the expected counts (float32) of all pieces: `ExpectedCounts`.

    Pretoken i is summed in lane i mod `lanes`; the lanes are added in order.
    """
    cdef Crew crew = workers.crew
    cdef ExpectedCounts counts = ExpectedCounts()
    start_stage(dereference(crew.crew), counts.sums, c_expected_counts, lattices.lattices, lanes)
    crew.await_stage()
    return counts


def best_path_counts(Lattices lattices not None, size_t lanes, workers, bint single_sum=False):
    """Return how often each piece is in the best segmentations: `ExpectedCounts`.

    They are summed in the same order as the expected counts. With `single_sum` all lanes, one
    after the other, add to the same sum.
    """
    cdef Crew crew = workers.crew
    cdef ExpectedCounts counts = ExpectedCounts()
    start_stage(
        dereference(crew.crew), counts.sums, c_best_path_counts, lattices.lattices, lanes,
        single_sum)
    crew.await_stage()
    return counts


def log_likelihood(Lattices lattices not None, workers):
    """Return the log likelihood of the corpus, over all segmentations, in nats.

    The sums are taken in double, in the same order for any number of workers.
    """
    cdef Crew crew = workers.crew
    cdef double likelihood = 0
    start_stage(dereference(crew.crew), likelihood, c_log_likelihood, lattices.lattices)
    crew.await_stage()
    return likelihood


def segment_log_likelihoods(Lattices lattices not None, workers):
    """Return the log likelihood of each segment of the corpus, over all segmentations, in nats.

    No piece crosses the ends of a segment. So the log likelihood of a text is the sum over its
    segments.
    """
    cdef Crew crew = workers.crew
    cdef vector[float] likelihoods
    start_stage(dereference(crew.crew), likelihoods, c_segment_log_likelihoods, lattices.lattices)
    crew.await_stage()
    return likelihoods
