"""Pruning by exact losses: how much worse the best segmentation is without each piece."""

from cython cimport final

from libc.stdint cimport uint32_t, uint64_t
from libcpp cimport bool
from libcpp.utility cimport move, pair
from libcpp.vector cimport vector

from spmcompat.runtime.cancel cimport CancelFlag, CCancelFlag
from spmcompat.segments.corpus cimport SegmentedCorpus
from spmcompat.unigram.lattice.lattices cimport Arithmetic, CLattices, Lattices
from spmcompat.unigram.pruning.pruning cimport select_kept


cdef extern from "spmcompat/unigram/pruning/exact_pruning.hpp" namespace "spmcompat" nogil:
    ctypedef vector[pair[uint32_t, double]] CLosses "spmcompat::Losses"
    vector[uint64_t] segment_counts(const SegmentedCorpus& corpus) except +
    CLosses cpp_exact_losses "spmcompat::exact_losses"(
        const vector[uint64_t]& counts, const CLattices& lattices, const Arithmetic& arithmetic,
        size_t block, const CCancelFlag& cancel) except +
    vector[uint32_t] select_by_loss(
        const vector[double]& losses, const vector[bool]& used, size_t size) except +


@final
cdef class ExactLosses:
    """The exact losses of all pieces; `find_exact_losses` makes it. Workers share the blocks.

    First `find` for all blocks, then `add_up`, then `as_list` or `select`.
    """

    cdef Lattices lattices
    cdef vector[uint64_t] counts
    cdef vector[CLosses] blocks
    cdef vector[double] losses
    cdef vector[bool] used

    def __init__(self, Lattices lattices):
        self.lattices = lattices
        self.counts = segment_counts(lattices.corpus.segmented)
        self.blocks.resize(lattices.lattices.blocks())

    def find(self, size_t block, CancelFlag cancel):
        """Find the losses in one lattice block."""
        cdef CLosses found
        with nogil:
            found = cpp_exact_losses(
                self.counts, self.lattices.lattices, self.lattices.arithmetic, block,
                cancel.flag)
            self.blocks[block] = move(found)

    def add_up(self):
        """Sum the losses in the order of the blocks, so that workers never change a bit."""
        cdef size_t size = self.lattices.pieces.pieces.size()
        cdef size_t block, i
        cdef uint32_t piece
        with nogil:
            self.losses.clear()
            self.losses.resize(size, 0.0)
            self.used.clear()
            self.used.resize(size, False)
            for block in range(self.blocks.size()):
                for i in range(self.blocks[block].size()):
                    piece = self.blocks[block][i].first
                    self.losses[piece] += self.blocks[block][i].second
                    self.used[piece] = True

    def as_list(self):
        """Return the loss of each piece, as `exact_losses` does."""
        return [loss if used else None for loss, used in zip(self.losses, self.used)]

    def select(self, size_t size):
        """Return the pieces that stay and the new ids of the old ones, as `prune_exact` does."""
        return select_kept(self.lattices.pieces, select_by_loss(self.losses, self.used, size))


def find_exact_losses(Lattices lattices not None, workers):
    """Return the exact losses of all pieces."""
    losses = ExactLosses(lattices)
    workers.run(
        range(lattices.lattices.blocks()),
        lambda _, block: losses.find(block, workers.cancel))
    workers.call(losses.add_up)
    return losses


def exact_losses(Lattices lattices not None, workers):
    """Return how much the score of the best segmentation falls without each piece, in nats.

    Returns
    -------
    list of (float or None)
        The loss when this piece alone is removed. Infinite if some text cannot be segmented
        without it; None if no best segmentation uses it.
    """
    return find_exact_losses(lattices, workers).as_list()


def prune_exact(Lattices lattices not None, size_t size, workers):
    """Return the pieces with the largest exact losses, and the new ids of the old ones.

    Parameters
    ----------
    lattices : Lattices
        The lattices of the corpus over the pieces in training.
    size : int
        How many pieces stay; more if more are needed to segment the corpus at all.
    workers : Workers
        Real threads; the result is the same for any number of them.

    Returns
    -------
    new_pieces : Pieces
        By loss descending, id ascending. Pieces that no best segmentation uses are dropped.
    new_ids : NewIds
        From old to new ids.
    """
    return find_exact_losses(lattices, workers).select(size)
