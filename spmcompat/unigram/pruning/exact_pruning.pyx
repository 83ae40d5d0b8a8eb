"""Pruning by exact losses: what the best segmentation of the corpus loses without each piece."""

from libc.stdint cimport uint32_t, uint64_t
from libcpp cimport bool
from libcpp.utility cimport move, pair
from libcpp.vector cimport vector

from cython.operator cimport dereference

from spmcompat.runtime.cancel cimport CancelFlag
from spmcompat.segments.corpus cimport SegmentedCorpus
from spmcompat.unigram.em.e_step cimport Arithmetic, CLattices, Lattices
from spmcompat.unigram.pruning.pruning cimport keep


cdef extern from "spmcompat/unigram/pruning/exact_pruning.hpp" namespace "spmcompat" nogil:
    ctypedef vector[pair[uint32_t, double]] Losses
    vector[uint64_t] segment_counts(const SegmentedCorpus& corpus) except +
    Losses cpp_exact_losses "spmcompat::exact_losses"(
        const vector[uint64_t]& counts, const CLattices& lattices, const Arithmetic& arithmetic,
        size_t block, const volatile int* cancel) except +
    vector[uint32_t] select_by_loss(
        const vector[double]& losses, const vector[bool]& used, size_t size) except +


cdef class _ExactLosses:
    """What the best segmentations lose without each piece, found in parts that workers share."""

    cdef Lattices lattices
    cdef vector[uint64_t] counts
    cdef vector[Losses] parts
    cdef vector[double] losses
    cdef vector[bool] used

    def __init__(self, Lattices lattices):
        self.lattices = lattices
        self.counts = segment_counts(lattices.corpus.segmented)
        self.parts.resize(dereference(lattices.lattices).blocks())

    def find(self, size_t part, CancelFlag cancel):
        cdef Losses found
        with nogil:
            found = cpp_exact_losses(
                self.counts, dereference(self.lattices.lattices), self.lattices.arithmetic, part,
                &cancel.flag)
            self.parts[part] = move(found)

    def add_up(self):
        """Sum the parts in their order, whoever found them."""
        cdef size_t size = self.lattices.pieces.pieces.size()
        cdef size_t part, i
        cdef uint32_t piece
        with nogil:
            self.losses.clear()
            self.losses.resize(size, 0.0)
            self.used.clear()
            self.used.resize(size, False)
            for part in range(self.parts.size()):
                for i in range(self.parts[part].size()):
                    piece = self.parts[part][i].first
                    self.losses[piece] += self.parts[part][i].second
                    self.used[piece] = True

    def as_list(self):
        return [loss if used else None for loss, used in zip(self.losses, self.used)]

    def select(self, size_t size):
        return keep(self.lattices.pieces, select_by_loss(self.losses, self.used, size))


cdef _ExactLosses _find_exact_losses(Lattices lattices, workers):
    losses = _ExactLosses(lattices)
    workers.run(
        range(dereference(lattices.lattices).blocks()),
        lambda _, part: losses.find(part, workers.cancel))
    workers.call(losses.add_up)
    return losses


def exact_losses(Lattices lattices not None, workers):
    """Return by how many nats the best segmentation of the corpus falls without each piece.

    Returns
    -------
    list of (float or None)
        Of each piece, alone taken away; infinite if some text cannot be segmented then, None if no
        best segmentation uses the piece.
    """
    return _find_exact_losses(lattices, workers).as_list()


def prune_exact(Lattices lattices not None, size_t size, workers):
    """Return the pieces that stay by their exact losses, and the new ids of the old ones.

    Parameters
    ----------
    lattices : Lattices
        Those of the corpus over the pieces in training.
    size : int
        How many shall stay; more do if so many are needed to segment the corpus at all.
    workers : Workers
        Real threads; the result is the same for any number of them.

    Returns
    -------
    new_pieces : Pieces
        By loss descending, id ascending. What no best segmentation uses is dropped.
    new_ids : NewIds
        From old to new ids.
    """
    return _find_exact_losses(lattices, workers).select(size)
