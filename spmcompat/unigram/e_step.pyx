"""The E-step: expected counts, and the best paths' counts, over the lattices of a corpus."""

from cython cimport final

import math
import os
import threading

from cython.operator cimport dereference

from spmcompat.cancel cimport CancelFlag


cdef int LIKELIHOOD_LANES = 16


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
        blocks = range(dereference(self.lattices).blocks())
        workers.run(blocks, lambda _, block: self._lay_out(block))
        workers.run(range(PARTS), lambda _, part: self._find_pieces(part, pieces))
        workers.call(lambda: self._set_chains(pieces))
        self._renumber_blocks(workers)
        self.pieces = pieces
        self.arithmetic.avx2 = has_avx2() and os.environ.get("SPMCOMPAT_AVX2") != "0"
        self.arithmetic.log_sum_exp = exact_log_sum_exp(with_log1p)
        self.total_count = 0
        for count in corpus.segmented.word_count:
            self.total_count += count
        self.first_segments = first_segments(corpus.segmented, len(blocks))

    def _lay_out(self, size_t block):
        with nogil:
            dereference(self.lattices).lay_out(block, self.corpus.segmented)

    def _find_pieces(self, uint32_t part, Pieces pieces):
        with nogil:
            dereference(self.lattices).find_pieces(part, pieces.pieces, self.corpus.segmented)

    def _set_chains(self, Pieces pieces):
        with nogil:
            dereference(self.lattices).set_chains(pieces.pieces)

    def _renumber_blocks(self, workers):
        cdef size_t blocks = dereference(self.lattices).blocks()
        workers.run(range(blocks), lambda _, block: self._renumber_block(block))
        dereference(self.lattices).end_renumbering()

    def _renumber_block(self, size_t block):
        with nogil:
            dereference(self.lattices).renumber_block(block)

    def renumber(self, Pieces pieces not None, NewIds new_ids not None, workers):
        """Go over to new pieces, of which `new_ids` gives the old pieces' ids."""
        if new_ids.all_as_before():
            self.rescore(pieces)
            return
        workers.call(lambda: self._renumber(new_ids, pieces))
        self._renumber_blocks(workers)
        self.pieces = pieces

    def _renumber(self, NewIds new_ids, Pieces pieces):
        with nogil:
            dereference(self.lattices).renumber(new_ids.ids, pieces.pieces)

    def _forward(self, workers):
        cdef size_t blocks = dereference(self.lattices).blocks()
        workers.run(range(blocks), lambda _, block: self._forward_block(block))

    def _forward_block(self, size_t block):
        with nogil:
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
        cdef int lanes = LIKELIHOOD_LANES
        self._forward(workers)
        sums = [0.0] * lanes

        def work(_worker, int lane):
            cdef double result
            cdef CancelFlag cancel = workers.cancel
            with nogil:
                result = log_likelihood_lane(
                    self.corpus.segmented, dereference(self.lattices), self.arithmetic, lane,
                    lanes, &cancel.flag)
            sums[lane] = result

        workers.run(range(lanes), work)
        return math.fsum(sums)

    def expected_counts(self, int lanes, workers):
        """Return the expected counts (float32) of all pieces: `Counts`.

        Word i is summed in lane i mod `lanes`; lanes are added in order.
        """
        if dereference(self.lattices).chains().finite():
            self._forward(workers)

        def run(int lane, Counts sums, CancelFlag cancel):
            with nogil:
                e_step_lane(
                    self.corpus.segmented, dereference(self.lattices), self.arithmetic, lane,
                    lanes, self.total_count, &cancel.flag, sums.sums)

        return _sum_lanes(lanes, run, workers)

    def best_path_counts(self, int lanes, workers):
        """Return how often each piece stands in the best segmentations: `Counts`."""
        def run(int lane, Counts sums, CancelFlag cancel):
            with nogil:
                count_best_lane(
                    self.corpus.segmented, dereference(self.lattices), self.arithmetic, lane,
                    lanes, &cancel.flag, sums.sums)

        return _sum_lanes(lanes, run, workers)

    def best_path_counts_one_by_one(self, int lanes, workers):
        """Return the same counts, each added up without a break through all lanes: `Counts`."""
        cdef Counts total = Counts()
        workers.call(lambda: self._count_one_by_one(lanes, total, workers.cancel))
        return total

    def _count_one_by_one(self, int lanes, Counts total, CancelFlag cancel):
        cdef int lane
        with nogil:
            for lane in range(lanes):
                count_best_lane(
                    self.corpus.segmented, dereference(self.lattices), self.arithmetic, lane,
                    lanes, &cancel.flag, total.sums)


def _sum_lanes(int lanes, run, workers):
    """Run all lanes and add them in order, holding no more sums than there are workers."""
    cdef Counts total = Counts()
    turn = threading.Condition()
    done = 0

    def work(_worker, int lane):
        nonlocal done
        cdef Counts sums = Counts()
        try:
            run(lane, sums, workers.cancel)
        except BaseException:
            # Else the lanes behind this one wait for ever.
            workers.cancel.set()
            with turn:
                turn.notify_all()
            raise
        with turn:
            turn.wait_for(lambda: done == lane or workers.cancel.is_set())
            total.sums.add(sums.sums)
            done += 1
            turn.notify_all()

    workers.run(range(lanes), work)
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
