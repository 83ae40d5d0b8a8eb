"""The E-step: expected counts, and the best paths' counts, over the lattices of a corpus."""

from cython cimport final

import os

from cython.operator cimport dereference

from spmcompat.runtime.cancel cimport CancelFlag


cdef int LIKELIHOOD_LANES = 16
cdef size_t RANGES = 256  # of blocks: many enough to be shared out evenly, few enough to be orders


@final
cdef class Counts:
    """What all lanes of one pass over the corpus add up to."""

    def __len__(self):
        return self.sums.expected.size()

    def __getitem__(self, size_t piece):
        if piece >= self.sums.expected.size():
            raise IndexError(piece)
        return self.sums.expected[piece]

    @property
    def objective(self):
        """The negative log likelihood per word, as the reference logs it."""
        return self.sums.objective


@final
cdef class Lattices:
    """The lattices of all segments of a corpus over the pieces in training.

    Sums are computed in the way of processors with AVX2 if this one is, unless the environment
    variable ``SPMCOMPAT_AVX2`` is 0; that never changes a bit. What does is `with_log1p`: whether
    log(1 + x) is computed by the library's log1p or by its log.
    """

    def __init__(
            self, Corpus corpus not None, Pieces pieces not None, workers, bint with_log1p=True):
        cdef int64_t count
        self.corpus = corpus
        self.lattices.reset(new CLattices(corpus.segmented, len(pieces)))
        workers.run(self._blocks(), lambda _, blocks: self._lay_out(blocks))
        workers.run(range(PARTS), lambda _, part: self._find_pieces(part, pieces))
        workers.call(lambda: self._begin_chains(pieces))
        self._count(workers)
        self.pieces = pieces
        self.arithmetic.avx2 = has_avx2() and os.environ.get("SPMCOMPAT_AVX2") != "0"
        self.arithmetic.log_sum_exp = exact_log_sum_exp(with_log1p)
        self.total_count = 0
        for count in corpus.segmented.word_count:
            self.total_count += count
        self.first_segments = first_segments(
            corpus.segmented, dereference(self.lattices).blocks())

    def _lay_out(self, range blocks):
        cdef size_t block, first = blocks.start, last = blocks.stop
        with nogil:
            for block in range(first, last):
                dereference(self.lattices).lay_out(block, self.corpus.segmented)

    def _find_pieces(self, uint32_t part, Pieces pieces):
        with nogil:
            dereference(self.lattices).find_pieces(part, pieces.pieces, self.corpus.segmented)

    def _begin_chains(self, Pieces pieces):
        with nogil:
            dereference(self.lattices).begin_chains(pieces.pieces)

    def renumber(self, Pieces pieces not None, NewIds new_ids not None, workers):
        """Go over to new pieces, of which `new_ids` gives the old pieces' ids."""
        if new_ids.all_as_before():
            self.rescore(pieces)
            return
        self.pieces = pieces
        workers.call(lambda: self._begin_renumbering(new_ids, pieces))
        parts = range(dereference(self.lattices).chain_parts())
        workers.run(parts, lambda _, part: self._keep_chains(part))
        dereference(self.lattices).end_keeping()
        self._count(workers)

    def _begin_renumbering(self, NewIds new_ids, Pieces pieces):
        with nogil:
            dereference(self.lattices).begin_renumbering(new_ids.ids, pieces.pieces)

    def _keep_chains(self, uint32_t part):
        with nogil:
            dereference(self.lattices).keep_chains(part)

    def _count(self, workers):
        """Count the chains, and let positions begin with the unknown piece where it is needed."""
        dereference(self.lattices).begin_counting()
        parts = range(dereference(self.lattices).chain_parts())
        workers.run(parts, lambda _, part: self._count_chains(part))
        workers.call(self._end_counting)
        workers.run(self._blocks(), lambda _, blocks: self._renumber_blocks(blocks))
        dereference(self.lattices).end_renumbering()

    def _count_chains(self, uint32_t part):
        with nogil:
            dereference(self.lattices).count_chains(part)

    def _end_counting(self):
        with nogil:
            dereference(self.lattices).end_counting()

    def _renumber_blocks(self, range blocks):
        cdef size_t block, first = blocks.start, last = blocks.stop
        with nogil:
            for block in range(first, last):
                dereference(self.lattices).renumber_block(block)

    def _blocks(self):
        """Return ranges of blocks, which workers take."""
        cdef size_t first, blocks = dereference(self.lattices).blocks()
        cdef size_t step = blocks // RANGES + 1
        return [range(first, min(first + step, blocks)) for first in range(0, blocks, step)]

    def _forward(self, workers):
        workers.run(self._blocks(), lambda _, blocks: self._forward_blocks(blocks))

    def _forward_blocks(self, range blocks):
        cdef size_t block, first = blocks.start, last = blocks.stop
        with nogil:
            for block in range(first, last):
                forward_block(
                    dereference(self.lattices).block(block), self.first_segments[block],
                    dereference(self.lattices).chains(), self.arithmetic)

    def rescore(self, Pieces pieces not None):
        """Go over to other scores of the same pieces, in the same order."""
        self.pieces = pieces
        with nogil:
            dereference(self.lattices).rescore(pieces.pieces)

    def log_likelihood(self, workers):
        """Return the log likelihood of the corpus, over all segmentations, in nats.

        The sums are taken in double, in the same order for any number of workers.
        """
        self._forward(workers)
        cdef _Pass work = _Pass(self, LIKELIHOOD_LANES, workers)
        workers.run(range(workers.count), work.add_log_likelihoods)
        return dereference(work.lanes).take_total().log_likelihood

    def expected_counts(self, int lanes, workers):
        """Return the expected counts (float32) of all pieces: `Counts`.

        Word i is summed in lane i mod `lanes`; lanes are added in order.
        """
        if dereference(self.lattices).chains().finite():
            self._forward(workers)
        cdef _Pass work = _Pass(self, lanes, workers)
        workers.run(range(workers.count), work.add_expected_counts)
        return work.counts()

    def best_path_counts(self, int lanes, workers, bint unbroken=False):
        """Return how often each piece stands in the best segmentations: `Counts`.

        They are added up as the expected counts, or, if `unbroken`, each without a break through
        all lanes.
        """
        cdef _Pass work = _Pass(self, lanes, workers, unbroken)
        workers.run(range(workers.count), work.add_best_paths)
        return work.counts()


cdef class _Pass:
    """One pass over the words of a corpus, which workers share out."""

    cdef Lattices lattices
    cdef CancelFlag cancel
    cdef unique_ptr[Lanes] lanes

    def __init__(self, Lattices lattices, int lanes, workers, bint unbroken=False):
        self.lattices = lattices
        self.cancel = workers.cancel
        self.lanes.reset(new Lanes(
            lattices.corpus.segmented, dereference(lattices.lattices), lanes, unbroken,
            workers.count, &self.cancel.flag))

    def add_expected_counts(self, _worker, _task):
        with nogil:
            add_expected_counts(
                dereference(self.lanes), dereference(self.lattices.lattices),
                self.lattices.arithmetic, self.lattices.total_count)

    def add_log_likelihoods(self, _worker, _task):
        with nogil:
            add_log_likelihoods(
                dereference(self.lanes), dereference(self.lattices.lattices),
                self.lattices.arithmetic)

    def add_best_paths(self, _worker, _task):
        with nogil:
            add_best_paths(
                dereference(self.lanes), dereference(self.lattices.lattices),
                self.lattices.arithmetic)

    cdef Counts counts(self):
        cdef Counts total = Counts()
        total.sums = dereference(self.lanes).take_total()
        return total


@final
cdef class NewIds:
    """For each old piece its new id, or a mark that it was dropped; last that of the unknown."""

    cdef bint all_as_before(self) noexcept:
        cdef size_t i
        for i in range(self.ids.size()):
            if self.ids[i] != i:
                return False
        return True
