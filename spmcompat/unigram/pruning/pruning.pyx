"""Pruning: drops the pieces with the smallest loss of likelihood.

For example, to keep 8,000 pieces::

    counts = best_path_counts(lattices, partial_sums, workers)
    losses = find_losses(lattices, counts, partial_sums, workers)
    pieces, new_ids = losses.select(8000)
    lattices.renumber(pieces, new_ids, workers)
"""

from cython cimport final

from libc.stdint cimport uint32_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from cython.operator cimport dereference

from spmcompat.releases import DEFAULT
from spmcompat.unigram.em.steps import best_path_counts

from spmcompat.runtime.threads cimport CCrew, Crew, start_stage
from spmcompat.unigram.em.steps cimport (
    CExpectedCounts, ExpectedCounts, sum_pretoken_counts)
from spmcompat.unigram.lattice.lattices cimport CLattices, Lattices, take_kept
from spmcompat.unigram.pieces cimport CPieces, KeptPieces, Pieces, piece_text


cdef extern from "spmcompat/unigram/pruning/losses.hpp" namespace "spmcompat" nogil:
    cdef cppclass CLosses "spmcompat::Losses":
        vector[uint32_t] ids
        vector[double] losses

    KeptPieces select_by_loss(
        const CPieces& pieces, const CLosses& losses, size_t size, cbool keeps_others) except +


cdef extern from "spmcompat/unigram/pruning/pruning.hpp" namespace "spmcompat" nogil:
    CLosses c_find_losses "spmcompat::find_losses"(
        const CPieces& pieces, const CLattices& lattices, const CExpectedCounts& counts,
        const vector[float]& occurrences, float total, cbool limited, CCrew& crew)
    float sum_counts(const vector[float]& count)


cdef extern from "spmcompat/unigram/pruning/exact_pruning.hpp" namespace "spmcompat" nogil:
    CLosses c_find_exact_losses "spmcompat::find_exact_losses"(
        const CLattices& lattices, CCrew& crew)


cdef extern from "spmcompat/unigram/pruning/reachable.hpp" namespace "spmcompat" nogil:
    CPieces reachable_pieces(const CPieces& pieces, CCrew& crew)


cdef float EXACT_FLOATS = 1 << 24  # sums of whole numbers below this are exact in float32


@final
cdef class Losses:
    """The pieces that may stay, and their losses: the fall in the likelihood without each piece."""

    cdef Pieces pieces
    cdef CLosses losses
    cdef bint keeps_others

    def select(self, size_t size):
        """Return the pieces that stay, by descending loss, and the new ids of the old pieces.

        Pieces with equal losses are in the order of their ids. If more than `size` pieces are
        irreplaceable, so that their losses are infinite, all of them stay. In this case, the result
        of `find_losses` drops no piece for its loss, as in the reference.
        """
        cdef KeptPieces kept
        with nogil:
            kept = select_by_loss(self.pieces.pieces, self.losses, size, self.keeps_others)
        return take_kept(kept)

    def as_list(self):
        """Return the loss of each piece.

        The loss is infinite for an irreplaceable piece. It is None for a piece that may not stay.
        """
        cdef list losses = [None] * len(self.pieces)
        cdef size_t i
        for i in range(self.losses.ids.size()):
            losses[self.losses.ids[i]] = self.losses.losses[i]
        return losses


def select_pieces(Pieces pieces not None, kept):
    """Return the pieces with these ids, in this order, and the new ids of the old pieces."""
    cdef vector[uint32_t] ids = kept
    cdef uint32_t piece
    for piece in ids:
        if piece >= pieces.pieces.size():
            raise IndexError(piece)
    return take_kept(KeptPieces(pieces.pieces, ids))


def find_losses(Lattices lattices not None, ExpectedCounts counts not None, size_t partial_sums,
                workers, release=DEFAULT):
    """Return the `Losses` of all pieces.

    The loss of a piece is the fall in the likelihood if its alternative, the second-best
    segmentation of its text, replaces it everywhere (Kudo 2018, section 3.2, as sentencepiece
    computes it). A piece without an alternative is irreplaceable. A piece may only stay if it is in
    the best segmentations, and is the best segmentation of its own text.

    Parameters
    ----------
    lattices : Lattices
        The lattices of the corpus over the current pieces.
    counts : ExpectedCounts
        How often each piece occurs in the best segmentations of `lattices`.
    partial_sums : int
        The number of partial sums of `counts`.
    workers : Workers
        The worker threads. The result does not depend on their number.
    release : Release
        The release to follow. A loss is weighted by the number of the piece's occurrences, divided
        by the number of all pieces or, in some releases, of all pretokens.
    """
    cdef Crew crew = workers.crew
    cdef Losses found = Losses()
    cdef ExpectedCounts occurrences = counts
    cdef float count, total = sum_counts(counts.sums.expected)
    cdef cbool limited = release.limits_two_best
    if release.weighs_losses_by_pretokens:
        total = sum_pretoken_counts(lattices.corpus.segmented, partial_sums)
        # The reference counts the occurrences in a single sum instead of partial sums. A single sum
        # differs from `counts` only if a count is so large that float32 rounds it.
        for count in counts.sums.expected:
            if count >= EXACT_FLOATS:
                occurrences = best_path_counts(lattices, partial_sums, workers, single_sum=True)
                break
    found.pieces = lattices.pieces
    found.keeps_others = True
    start_stage(
        dereference(crew.crew), found.losses, c_find_losses, lattices.pieces.pieces,
        lattices.lattices, counts.sums, occurrences.sums.expected, total, limited)
    crew.await_stage()
    return found


def find_exact_losses(Lattices lattices not None, workers):
    """Return the `Losses` as falls in the score of the best segmentation, in nats.

    A piece without which some text cannot be segmented is irreplaceable. A piece may only stay if
    it is in the best segmentations.
    """
    cdef Crew crew = workers.crew
    cdef Losses found = Losses()
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
