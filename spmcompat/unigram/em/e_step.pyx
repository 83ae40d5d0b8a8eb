"""The E-step: expected counts, and the counts of the best paths, over the lattices of a corpus."""

from cython cimport final

from cython.operator cimport dereference

from spmcompat.runtime.cancel cimport CancelFlag


cdef int LIKELIHOOD_LANES = 16
cdef uint32_t SEGMENTS_AT_ONCE = 4096


@final
cdef class Counts:
    """The sums of all lanes of one pass over the corpus."""

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


def expected_counts(Lattices lattices not None, int lanes, workers):
    """Return the expected counts (float32) of all pieces: `Counts`.

    Pretoken i is summed in lane i mod `lanes`; the lanes are added in order.
    """
    cdef _Pass work = _Pass(lattices, lanes, workers)
    if lattices.lattices.links().finite():
        workers.run(lattices.block_ranges(), work.find_shared_alphas)
    workers.run(range(workers.count), work.add_expected_counts)
    return work.counts()


def log_likelihood(Lattices lattices not None, workers):
    """Return the log likelihood of the corpus, over all segmentations, in nats.

    The sums are taken in double, in the same order for any number of workers.
    """
    cdef _Pass work = _Pass(lattices, LIKELIHOOD_LANES, workers)
    workers.run(lattices.block_ranges(), work.find_shared_alphas)
    workers.run(range(workers.count), work.add_log_likelihoods)
    return dereference(work.lanes).take_total().log_likelihood


def segment_log_likelihoods(Lattices lattices not None, workers):
    """Return the log likelihood of each segment of the corpus, over all segmentations, in nats.

    No piece crosses the ends of a segment. So the log likelihood of a text is the sum over its
    segments.
    """
    work = _SegmentPass(lattices)
    workers.run(work.ranges(), work.find)
    return work.likelihoods()


def best_path_counts(Lattices lattices not None, int lanes, workers, bint single_sum=False):
    """Return how often each piece is in the best segmentations: `Counts`.

    They are summed in the same order as the expected counts. With `single_sum` all lanes, one
    after the other, add to the same sum.
    """
    cdef _Pass work = _Pass(lattices, lanes, workers, single_sum)
    workers.run(range(workers.count), work.add_best_paths)
    return work.counts()


cdef class _Pass:
    """One pass over the pretokens of a corpus, which workers share out."""

    cdef Lattices lattices
    cdef CancelFlag cancel
    cdef unique_ptr[Lanes] lanes

    def __init__(self, Lattices lattices, int lanes, workers, bint single_sum=False):
        self.lattices = lattices
        self.cancel = workers.cancel
        self.lanes.reset(new Lanes(
            lattices.corpus.segmented, lattices.lattices, lanes, single_sum, workers.count,
            self.cancel.flag))

    def add_expected_counts(self, _worker, _task):
        with nogil:
            add_expected_counts(
                dereference(self.lanes), self.lattices.lattices, self.lattices.arithmetic,
                self.lattices.total_count)

    def add_log_likelihoods(self, _worker, _task):
        with nogil:
            add_log_likelihoods(
                dereference(self.lanes), self.lattices.lattices, self.lattices.arithmetic)

    def find_shared_alphas(self, _worker, range blocks):
        """Compute the alphas of some lattice blocks that later pretokens share."""
        cdef size_t block, first = blocks.start, last = blocks.stop
        with nogil:
            for block in range(first, last):
                find_shared_alphas(
                    self.lattices.lattices.block(block),
                    self.lattices.shared_first_segments[block],
                    self.lattices.lattices.links(), self.lattices.arithmetic)

    def add_best_paths(self, _worker, _task):
        with nogil:
            add_best_paths(
                dereference(self.lanes), self.lattices.lattices, self.lattices.arithmetic)

    cdef Counts counts(self):
        cdef Counts total = Counts()
        total.sums = dereference(self.lanes).take_total()
        return total


cdef class _SegmentPass:
    """The log likelihood of each segment; workers share ranges of segments."""

    cdef Lattices lattices
    cdef vector[float] found

    def __init__(self, Lattices lattices):
        self.lattices = lattices
        self.found.resize(lattices.corpus.segmented.segments_size())

    def ranges(self):
        cdef uint32_t first, end = self.found.size()
        return [
            range(first, min(first + SEGMENTS_AT_ONCE, end))
            for first in range(0, end, SEGMENTS_AT_ONCE)
        ]

    def find(self, _worker, range segments):
        cdef uint32_t first = segments.start, last = segments.stop
        with nogil:
            find_segment_likelihoods(
                self.lattices.lattices, self.lattices.arithmetic, first, last,
                self.found.data() + first)

    def likelihoods(self):
        return self.found
