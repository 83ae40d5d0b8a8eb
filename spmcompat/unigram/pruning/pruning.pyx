"""Pruning: drops the pieces with the smallest loss of likelihood.

For example, to keep 8,000 pieces::

    counts = best_path_counts(lattices, partial_sums, workers)
    losses = find_losses(lattices, counts, LossWeights.by_pieces(counts), workers)
    pieces, new_ids = losses.select(8000)
    lattices.renumber(pieces, new_ids, workers)
"""

from cython cimport final

from libc.math cimport INFINITY
from libc.stdint cimport uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from cython.operator cimport dereference

from spmcompat.unigram.em.steps import best_path_counts

from spmcompat.runtime.threads cimport CCrew, Crew, start_stage
from spmcompat.unigram.em.steps cimport (
    CExpectedCounts, ExpectedCounts, sum_pretoken_counts)
from spmcompat.unigram.lattice.lattices cimport CLattices, Lattices, take_kept
from spmcompat.unigram.pieces cimport CPieces, KeptPieces, Pieces, piece_text


cdef extern from "spmcompat/unigram/pruning/pruning.hpp" namespace "spmcompat" nogil:
    cdef cppclass CLosses "spmcompat::Losses":
        vector[uint32_t] without_alternative
        vector[uint64_t] by_loss

    CLosses c_find_losses "spmcompat::find_losses"(
        const CPieces& pieces, const CLattices& lattices, const CExpectedCounts& counts,
        const vector[float]& occurrences, float total, cbool limited, CCrew& crew)
    KeptPieces select_by_loss(const CPieces& pieces, const CLosses& losses, size_t size) except +
    float loss_of_key(uint64_t key)
    uint32_t id_of_key(uint64_t key)
    float sum_counts(const vector[float]& count)


cdef extern from "spmcompat/unigram/pruning/exact_pruning.hpp" namespace "spmcompat" nogil:
    cdef cppclass CExactLosses "spmcompat::ExactLosses":
        vector[double] losses
        vector[cbool] used

    CExactLosses c_find_exact_losses "spmcompat::find_exact_losses"(
        const CLattices& lattices, CCrew& crew)
    KeptPieces select_by_exact_loss(
        const CPieces& pieces, const CExactLosses& losses, size_t size) except +


cdef extern from "spmcompat/unigram/pruning/reachable.hpp" namespace "spmcompat" nogil:
    CPieces reachable_pieces(const CPieces& pieces, CCrew& crew)


cdef float EXACT_FLOATS = 1 << 24  # sums of whole numbers below this are exact in float32


@final
cdef class Losses:
    """The pieces that may stay, and their losses; the result of `find_losses`."""

    cdef Pieces pieces
    cdef CLosses losses

    def select(self, size_t size):
        """Return the pieces that stay, and the new ids of the old pieces.

        Parameters
        ----------
        size : int
            The number of pieces that stay. If the pieces without an alternative segmentation
            already exceed this number, no piece is dropped for its loss, as in the reference.

        Returns
        -------
        new_pieces : Pieces
            The pieces without an alternative, then the other pieces by descending loss. Pieces with
            equal losses are in the order of their ids.
        new_ids : NewIds
            The new ids of the old pieces.
        """
        cdef KeptPieces kept
        with nogil:
            kept = select_by_loss(self.pieces.pieces, self.losses, size)
        return take_kept(kept)

    def as_list(self):
        """Return the loss of each piece.

        The loss is infinite for a piece without an alternative. It is None for a piece that no best
        segmentation uses, or that is not the best segmentation of its own text.
        """
        cdef list losses = [None] * len(self.pieces)
        cdef uint32_t piece
        cdef uint64_t key
        for piece in self.losses.without_alternative:
            losses[piece] = INFINITY
        for key in self.losses.by_loss:
            losses[id_of_key(key)] = loss_of_key(key)
        return losses


def select_pieces(Pieces pieces not None, kept):
    """Return the pieces with these ids, in this order, and the new ids of the old pieces."""
    cdef vector[uint32_t] ids = kept
    cdef uint32_t piece
    for piece in ids:
        if piece >= pieces.pieces.size():
            raise IndexError(piece)
    return take_kept(KeptPieces(pieces.pieces, ids))


@final
cdef class LossWeights:
    """The weight of each piece's loss: the piece's share of the text.

    The share is the number of the piece's occurrences, divided by the number of all pieces or of
    all pretokens.
    """

    cdef ExpectedCounts occurrences
    cdef float total

    @staticmethod
    def by_pieces(ExpectedCounts counts not None):
        """Weight a loss by the piece's share of all pieces in the best segmentations."""
        cdef LossWeights weights = LossWeights()
        weights.occurrences = counts
        weights.total = sum_counts(counts.sums.expected)
        return weights

    @staticmethod
    def by_pretokens(
            Lattices lattices not None, ExpectedCounts counts not None, int partial_sums, workers):
        """Weight a loss by how often the best segmentations use the piece, per pretoken.

        The reference counts these uses in a single sum instead of partial sums. A single sum
        differs from `counts` only if a count is so large that float32 rounds it.
        """
        cdef LossWeights weights = LossWeights()
        cdef float count
        weights.occurrences = counts
        for count in counts.sums.expected:
            if count >= EXACT_FLOATS:
                weights.occurrences = best_path_counts(
                    lattices, partial_sums, workers, single_sum=True)
                break
        weights.total = sum_pretoken_counts(lattices.corpus.segmented, partial_sums)
        return weights


def find_losses(Lattices lattices not None, ExpectedCounts counts not None,
                LossWeights weights not None, workers, bint limited=True):
    """Return the losses of all pieces.

    The loss of a piece is the fall in the likelihood if its alternative, the second-best
    segmentation of its text, replaces it everywhere (Kudo 2018, section 3.2, as sentencepiece
    computes it).

    Parameters
    ----------
    lattices : Lattices
        The lattices of the corpus over the current pieces.
    counts : ExpectedCounts
        How often each piece occurs in the best segmentations of `lattices`.
    weights : LossWeights
        The weights of the losses.
    workers : Workers
        The worker threads. The result does not depend on their number.
    limited : bool
        Whether the search for the second-best segmentation gives up at the limits of release 0.2.3.
    """
    cdef Crew crew = workers.crew
    cdef Losses found = Losses()
    found.pieces = lattices.pieces
    start_stage(
        dereference(crew.crew), found.losses, c_find_losses, lattices.pieces.pieces,
        lattices.lattices, counts.sums, weights.occurrences.sums.expected, weights.total, limited)
    crew.await_stage()
    return found


@final
cdef class ExactLosses:
    """The exact losses of all pieces; the result of `find_exact_losses`."""

    cdef Pieces pieces
    cdef CExactLosses losses

    def as_list(self):
        """Return the loss of each piece in nats.

        The loss is infinite if some text cannot be segmented without the piece. It is None if no
        best segmentation uses the piece.
        """
        return [
            loss if used else None
            for loss, used in zip(self.losses.losses, self.losses.used)]

    def select(self, size_t size):
        """Return the pieces with the largest losses, and the new ids of the old pieces.

        The pieces are sorted by descending loss, then by id. Pieces without which the corpus cannot
        be segmented stay even if there are more than `size` such pieces. Pieces that no best
        segmentation uses are dropped.
        """
        cdef KeptPieces kept
        with nogil:
            kept = select_by_exact_loss(self.pieces.pieces, self.losses, size)
        return take_kept(kept)


def find_exact_losses(Lattices lattices not None, workers):
    """Return how much the score of the best segmentation falls without each single piece."""
    cdef Crew crew = workers.crew
    cdef ExactLosses found = ExactLosses()
    found.pieces = lattices.pieces
    start_stage(
        dereference(crew.crew), found.losses, c_find_exact_losses, lattices.lattices)
    crew.await_stage()
    return found


def prune_flat(Pieces pieces not None, size_t size, frozenset keep_first=frozenset()):
    """Return the pieces with the highest scores, and the new ids of the old pieces.

    Flat score pruning (Land and Pinter, section 4.3) does not compute losses. The pieces in
    `keep_first` (bytes) are kept before all other pieces. Of pieces with equal scores, those with
    the lower ids are kept. The order of the pieces does not change.
    """
    cdef vector[uint32_t] kept
    ranked = sorted(
        range(len(pieces)),
        key=lambda i: (
            bytes(piece_text(pieces.pieces, i)) not in keep_first, -pieces.pieces.score[i]))
    for i in sorted(ranked[:size]):
        kept.push_back(i)
    return take_kept(KeptPieces(pieces.pieces, kept))


def drop_unreachable(Pieces pieces not None, workers):
    """Return the pieces for which no other segmentation of their text has a higher score."""
    cdef Crew crew = workers.crew
    cdef Pieces reachable = Pieces()
    start_stage(dereference(crew.crew), reachable.pieces, reachable_pieces, pieces.pieces)
    crew.await_stage()
    return reachable
