"""The lattices of a corpus over the pieces in training.

They are built once. After each M-step and each pruning they change to the pieces that are left::

    lattices = Lattices(corpus, seeds, workers)
    pieces, new_ids = m_step(lattices.pieces, expected_counts(lattices, lanes, workers), workers)
    lattices.renumber(pieces, new_ids, workers)
"""

from cython cimport final

from cython.operator cimport dereference
from libcpp.utility cimport move

from spmcompat.runtime.crew cimport Crew, start_change, start_stage
from spmcompat.unigram.pieces cimport kDropped


@final
cdef class NewIds:
    """The new id of each old piece, or kDropped. The last item is the id of the unknown piece."""

    def __len__(self):
        return self.ids.size() - 1

    def __getitem__(self, size_t piece):
        """Return the new id of an old piece, or None if it was dropped."""
        if piece + 1 >= self.ids.size():
            raise IndexError(piece)
        return None if self.ids[piece] == kDropped else self.ids[piece]


@final
cdef class Lattices:
    """The lattices of all segments of a corpus over the pieces in training.

    Parameters
    ----------
    corpus : Corpus
        The corpus; it must not change.
    pieces : Pieces
        The pieces in training.
    workers : Workers
        Real threads.
    with_log1p : bool
        Whether log(1 + x) is computed by the library's log1p or by its log. This changes bits.

    Notes
    -----
    The kernels for AVX2 run if the processor has it and the environment variable
    ``SPMCOMPAT_AVX2`` is not 0. This never changes a bit.
    """

    def __init__(
            self, Corpus corpus not None, Pieces pieces not None, workers, bint with_log1p=True):
        cdef Crew crew = workers.crew
        self.corpus = corpus
        self.pieces = pieces
        start_stage(
            dereference(crew.crew), self.lattices, build_lattices, corpus.segmented,
            pieces.pieces, with_log1p)
        crew.await_stage()

    def copy(self):
        """Return lattices over the same pieces, which can change to other pieces by themselves."""
        cdef Lattices other = Lattices.__new__(Lattices)
        other.corpus = self.corpus
        other.pieces = self.pieces
        with nogil:
            other.lattices = self.lattices.copy()
        return other

    def renumber(self, Pieces pieces not None, NewIds new_ids not None, workers):
        """Change to new pieces; `new_ids` gives the new ids of the old ones."""
        cdef Crew crew = workers.crew
        start_change(
            dereference(crew.crew), self.lattices, renumber_lattices, pieces.pieces, new_ids.ids)
        crew.await_stage()
        self.pieces = pieces

    def rescore(self, Pieces pieces not None):
        """Change to other scores of the same pieces, in the same order."""
        self.pieces = pieces
        with nogil:
            self.lattices.rescore(pieces.pieces)


cdef tuple take_kept(KeptPieces& kept):
    """Move the pieces that a step has kept into `Pieces` and `NewIds`."""
    cdef Pieces pieces = Pieces()
    cdef NewIds new_ids = NewIds()
    pieces.pieces = move(kept.pieces)
    new_ids.ids.swap(kept.new_ids)
    return pieces, new_ids
