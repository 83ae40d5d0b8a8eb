"""Pruning: the pieces whose loss hurts the likelihood least leave the model."""

from libc.stdint cimport uint32_t, uint64_t
from libcpp cimport bool
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from cython.operator cimport dereference

from spmcompat.cancel cimport CancelFlag
from spmcompat.corpus.corpus cimport SegmentedCorpus
from spmcompat.unigram.e_step cimport CLattices, Counts, LaneSums, Lattices, NewIds, Scores
from spmcompat.unigram.pieces cimport CPieces, Pieces


cdef extern from "piece_chains.hpp" namespace "spmcompat" nogil:
    const uint32_t kDropped


cdef extern from "pruning.hpp" namespace "spmcompat" nogil:
    cdef cppclass Alternatives:
        pass

    Alternatives find_alternatives(
        const CPieces& pieces, const Scores& scores, const CLattices& lattices,
        const LaneSums& counts, uint32_t first, uint32_t last,
        const volatile int* cancel) except +
    vector[uint32_t] select_pieces(
        const vector[float]& count, const vector[Alternatives]& parts, size_t size) except +
    vector[uint32_t] reachable(const CPieces& pieces) except +


cdef extern from "exact_pruning.hpp" namespace "spmcompat" nogil:
    ctypedef vector[pair[uint32_t, double]] Losses
    vector[uint64_t] segment_counts(const SegmentedCorpus& corpus) except +
    Losses cpp_exact_losses "spmcompat::exact_losses"(
        const vector[uint64_t]& counts, const CLattices& lattices, const Scores& scores,
        size_t block, const volatile int* cancel) except +
    vector[uint32_t] select_by_loss(
        const vector[double]& losses, const vector[bool]& used, size_t size) except +


cdef size_t PART = 4096  # pieces that a worker looks at in one go


cdef class _Resegmentation:
    """How each piece is segmented without itself, found in parts that workers share."""

    cdef Lattices lattices
    cdef Counts counts
    cdef vector[Alternatives] parts

    def __init__(self, Lattices lattices, Counts counts):
        self.lattices = lattices
        self.counts = counts
        self.parts.resize((len(counts) + PART - 1) // PART)

    def find(self, size_t part, CancelFlag cancel):
        cdef uint32_t first = part * PART
        cdef uint32_t last = min(first + PART, self.counts.sums.expected.size())
        with nogil:
            self.parts[part] = find_alternatives(
                self.lattices.pieces.pieces, self.lattices.scores,
                dereference(self.lattices.lattices), self.counts.sums, first, last, &cancel.flag)

    def select(self, size_t size):
        cdef vector[uint32_t] kept
        with nogil:
            kept = select_pieces(self.counts.sums.expected, self.parts, size)
        return _keep(self.lattices.pieces, kept)


cdef _keep(Pieces pieces, vector[uint32_t]& kept):
    cdef Pieces new_pieces = Pieces()
    cdef NewIds new_ids = NewIds()
    cdef uint32_t i
    new_pieces.pieces = pieces.pieces.select(kept)
    new_ids.ids.assign(pieces.pieces.size(), kDropped)
    for i in range(kept.size()):
        new_ids.ids[kept[i]] = i
    new_ids.ids.push_back(kept.size())
    return new_pieces, new_ids


def prune(Lattices lattices not None, Counts counts not None, size_t size, workers):
    """Return the pieces that stay, and the new ids of the old ones.

    Parameters
    ----------
    lattices : Lattices
        Those of the corpus over the pieces in training.
    counts : Counts
        How often each piece stands in the best segmentations, as `lattices` gives it.
    size : int
        How many shall stay.
    workers : Workers
        Real threads.

    Returns
    -------
    new_pieces : Pieces
        Those that no other pieces can replace, then by loss descending, id ascending.
    new_ids : NewIds
        From old to new ids.

    Notes
    -----
    The loss of a piece is how much the likelihood falls when the second-best segmentation of
    its text replaces it everywhere (Kudo 2018, section 3.2, as sentencepiece 0.2.3 computes it).
    """
    work = _Resegmentation(lattices, counts)
    parts = (len(counts) + PART - 1) // PART
    workers.run(range(parts), lambda _, part: work.find(part, workers.cancel))
    return work.select(size)


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
        with nogil:
            self.parts[part] = cpp_exact_losses(
                self.counts, dereference(self.lattices.lattices), self.lattices.scores, part,
                &cancel.flag)

    def add_up(self):
        """Sum the parts in their order, whoever found them."""
        cdef size_t size = self.lattices.pieces.pieces.size()
        cdef size_t part, i
        cdef uint32_t piece
        with nogil:
            self.losses.assign(size, 0.0)
            self.used.assign(size, False)
            for part in range(self.parts.size()):
                for i in range(self.parts[part].size()):
                    piece = self.parts[part][i].first
                    self.losses[piece] += self.parts[part][i].second
                    self.used[piece] = True

    def as_list(self):
        return [loss if used else None for loss, used in zip(self.losses, self.used)]

    def select(self, size_t size):
        return _keep(self.lattices.pieces, select_by_loss(self.losses, self.used, size))


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


def prune_flat(Pieces pieces not None, size_t size):
    """Return the pieces of the highest scores, and the new ids of the old ones.

    Flat score pruning (Land and Pinter, section 4.3): no loss is computed. Of equal scores the
    piece of the lower id stays; the order of the pieces is kept.
    """
    cdef vector[uint32_t] kept
    ranked = sorted(range(len(pieces)), key=lambda i: -pieces.pieces.score[i])
    kept = sorted(ranked[:size])
    return _keep(pieces, kept)


def drop_unreachable(Pieces pieces not None):
    """Return the pieces whose own decomposition does not score higher than they do."""
    cdef vector[uint32_t] kept
    with nogil:
        kept = reachable(pieces.pieces)
    return _keep(pieces, kept)[0]
