"""Pruning: the pieces whose loss costs the least likelihood are dropped."""

from cython cimport final

from libc.math cimport INFINITY
from libc.stdint cimport uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.utility cimport move
from libcpp.vector cimport vector

from cython.operator cimport dereference

from spmcompat.unigram.em.e_step import best_path_counts

from spmcompat.runtime.cancel cimport CancelFlag, CCancelFlag
from spmcompat.unigram.em.e_step cimport (
    CExpectedCounts, ExpectedCounts, sum_pretoken_counts)
from spmcompat.unigram.lattice.lattices cimport CLattices, Lattices, NewIds, kDropped
from spmcompat.unigram.pieces cimport CPieces, Pieces, piece_text


cdef extern from "spmcompat/unigram/pruning/pruning.hpp" namespace "spmcompat" nogil:
    cdef cppclass PruningCandidates:
        vector[uint32_t] without_alternative
        vector[uint64_t] by_loss

    cdef cppclass LossScale:
        LossScale()
        LossScale(
            const vector[float]& counts, const vector[float]& occurrences, float total)

    PruningCandidates find_pruning_candidates(
        const CPieces& pieces, const CLattices& lattices, const CExpectedCounts& counts,
        const LossScale& scale, uint32_t first, uint32_t last, cbool limited,
        const CCancelFlag& cancel) except +
    float loss_of_key(uint64_t key)
    uint32_t id_of_key(uint64_t key)
    float sum_counts(const vector[float]& count)
    vector[uint32_t] select_by_loss "spmcompat::select_pieces"(
        const vector[PruningCandidates]& parts, size_t size) except +


cdef extern from "spmcompat/unigram/pruning/reachable.hpp" namespace "spmcompat" nogil:
    const uint32_t REACHABLE_PARTS "spmcompat::ReachableSearch::kParts"

    cdef cppclass ReachableSearch:
        ReachableSearch(const CPieces& pieces) except +
        void build(uint32_t part) except +
        vector[uint32_t] find(uint32_t first, uint32_t last, const CCancelFlag& cancel) except +


cdef size_t PART = 4096  # pieces that a worker takes at a time
cdef float EXACT_FLOATS = 1 << 24  # below, sums of whole numbers are exact in float32


@final
cdef class Losses:
    """Which pieces may stay, and their losses; `find_losses` makes it.

    Workers share the parts of the pieces: `find` is called for each part, then the other methods.
    """

    cdef Lattices lattices
    cdef ExpectedCounts counts
    cdef LossWeights weights
    cdef bint limited
    cdef LossScale scale
    cdef vector[PruningCandidates] parts

    def __init__(self, Lattices lattices, ExpectedCounts counts, LossWeights weights, bint limited):
        self.lattices = lattices
        self.counts = counts
        self.weights = weights
        self.limited = limited
        self.scale = LossScale(
            counts.sums.expected, weights.occurrences.sums.expected, weights.total)
        self.parts.resize((len(counts) + PART - 1) // PART)

    def find(self, size_t part, CancelFlag cancel):
        """Find the losses of one part of the pieces."""
        cdef uint32_t first = part * PART
        cdef uint32_t last = min(first + PART, self.counts.sums.expected.size())
        cdef PruningCandidates found
        with nogil:
            found = find_pruning_candidates(
                self.lattices.pieces.pieces, self.lattices.lattices, self.counts.sums, self.scale,
                first, last, self.limited, cancel.flag)
            self.parts[part] = move(found)

    def select(self, size_t size):
        """Return the pieces that stay and the new ids of the old ones, as `prune` does."""
        cdef vector[uint32_t] kept
        with nogil:
            kept = select_by_loss(self.parts, size)
        return select_kept(self.lattices.pieces, kept)

    def as_list(self):
        """Return the loss of each piece.

        It is infinite for a piece without an alternative. It is None for a piece that no best
        segmentation uses, or that is not the best segmentation of its own text.
        """
        cdef list losses = [None] * len(self.counts)
        cdef size_t part
        cdef uint32_t piece
        cdef uint64_t key
        for part in range(self.parts.size()):
            for piece in self.parts[part].without_alternative:
                losses[piece] = INFINITY
            for key in self.parts[part].by_loss:
                losses[id_of_key(key)] = loss_of_key(key)
        return losses


cdef tuple select_kept(Pieces pieces, const vector[uint32_t]& kept):
    cdef Pieces new_pieces = Pieces()
    cdef NewIds new_ids = NewIds()
    cdef uint32_t i
    new_pieces.pieces = pieces.pieces.select(kept)
    new_ids.ids.resize(pieces.pieces.size(), kDropped)
    for i in range(kept.size()):
        new_ids.ids[kept[i]] = i
    new_ids.ids.push_back(kept.size())
    return new_pieces, new_ids


def select_pieces(Pieces pieces not None, kept):
    """Return the pieces with the given ids, in this order, and the new ids of the old ones."""
    cdef vector[uint32_t] ids = kept
    cdef uint32_t piece
    for piece in ids:
        if piece >= pieces.pieces.size():
            raise IndexError(piece)
    return select_kept(pieces, ids)


@final
cdef class LossWeights:
    """The weight of each piece's loss: its share of all pieces, or of all pretokens."""

    cdef ExpectedCounts occurrences
    cdef float total

    @staticmethod
    def by_pieces(ExpectedCounts counts not None):
        """Weigh by the piece's share of all pieces in the best segmentations."""
        cdef LossWeights weights = LossWeights()
        weights.occurrences = counts
        weights.total = sum_counts(counts.sums.expected)
        return weights

    @staticmethod
    def by_pretokens(
            Lattices lattices not None, ExpectedCounts counts not None, int lanes, workers):
        """Weigh by the piece's occurrences in the best segmentations, per pretoken.

        The reference adds these occurrences up through all lanes. This differs from `counts` only
        where a count is so large that float32 rounds it.
        """
        cdef LossWeights weights = LossWeights()
        cdef float count
        weights.occurrences = counts
        for count in counts.sums.expected:
            if count >= EXACT_FLOATS:
                weights.occurrences = best_path_counts(lattices, lanes, workers, single_sum=True)
                break
        weights.total = sum_pretoken_counts(lattices.corpus.segmented, lanes)
        return weights


def find_losses(Lattices lattices not None, ExpectedCounts counts not None,
                LossWeights weights not None,
                workers, bint limited=True):
    """Return the losses of all pieces. The parameters are those of `prune`."""
    losses = Losses(lattices, counts, weights, limited)
    parts = (len(counts) + PART - 1) // PART
    workers.run(range(parts), lambda _, part: losses.find(part, workers.cancel))
    return losses


def prune(Lattices lattices not None, ExpectedCounts counts not None, LossWeights weights not None,
          size_t size, workers, bint limited=True):
    """Return the pieces that stay, and the new ids of the old ones.

    Parameters
    ----------
    lattices : Lattices
        The lattices of the corpus over the pieces in training.
    counts : ExpectedCounts
        How often each piece is in the best segmentations, from `lattices`.
    weights : LossWeights
        The weights of the losses.
    size : int
        How many pieces stay; all candidates do if more than that have no alternative.
    workers : Workers
        Real threads.
    limited : bool
        Whether the search for the second-best segmentation gives up where release 0.2.3 does.

    Returns
    -------
    new_pieces : Pieces
        The pieces without an alternative, then the others by loss descending, id ascending.
    new_ids : NewIds
        From old to new ids.

    Notes
    -----
    The loss of a piece is how much the likelihood falls when its alternative, the second-best
    segmentation of its text, replaces it everywhere (Kudo 2018, section 3.2, as sentencepiece
    computes it).
    """
    return find_losses(lattices, counts, weights, workers, limited).select(size)


def prune_flat(Pieces pieces not None, size_t size, frozenset keep_first=frozenset()):
    """Return the pieces with the highest scores, and the new ids of the old pieces.

    Flat score pruning (Land and Pinter, section 4.3): no loss is computed. The pieces `keep_first`
    (bytes) stay before all others. Of equal scores the piece with the lower id stays. The order of
    the pieces does not change.
    """
    cdef vector[uint32_t] kept
    ranked = sorted(
        range(len(pieces)),
        key=lambda i: (
            bytes(piece_text(pieces.pieces, i)) not in keep_first, -pieces.pieces.score[i]))
    for i in sorted(ranked[:size]):
        kept.push_back(i)
    return select_kept(pieces, kept)


cdef class _Reachable:
    """The reachable pieces; workers share the parts of the pieces."""

    cdef Pieces pieces
    cdef unique_ptr[ReachableSearch] search
    cdef vector[vector[uint32_t]] parts

    def __init__(self, Pieces pieces):
        self.pieces = pieces
        self.search.reset(new ReachableSearch(pieces.pieces))
        self.parts.resize((len(pieces) + PART - 1) // PART)

    def build(self, uint32_t part):
        with nogil:
            dereference(self.search).build(part)

    def find(self, size_t part, CancelFlag cancel):
        cdef uint32_t first = part * PART
        cdef uint32_t last = min(first + PART, self.pieces.pieces.size())
        cdef vector[uint32_t] found
        with nogil:
            found = dereference(self.search).find(first, last, cancel.flag)
            self.parts[part] = move(found)

    def select(self):
        cdef vector[uint32_t] kept
        cdef size_t part
        for part in range(self.parts.size()):
            kept.insert(kept.end(), self.parts[part].begin(), self.parts[part].end())
        return select_kept(self.pieces, kept)[0]


def drop_unreachable(Pieces pieces not None, workers):
    """Return the pieces whose score no other segmentation of their own text beats."""
    work = _Reachable(pieces)
    parts = (len(pieces) + PART - 1) // PART
    workers.run(range(REACHABLE_PARTS), lambda _, part: work.build(part))
    workers.run(range(parts), lambda _, part: work.find(part, workers.cancel))
    return work.select()
