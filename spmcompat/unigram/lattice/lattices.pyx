"""The lattices of a corpus over the current pieces.

The lattices are built once. After each M-step and each pruning, they are reduced to the remaining
pieces::

    lattices = Lattices(corpus, seeds, workers)
    counts = expected_counts(lattices, partial_sums, workers)
    pieces, new_ids = m_step(lattices.pieces, counts, workers)
    lattices.renumber(pieces, new_ids, workers)
"""

from cython cimport final
from cython.operator cimport dereference
from libcpp.utility cimport move

from spmcompat.runtime.threads cimport Crew, start_change, start_stage
from spmcompat.unigram.pieces cimport kDropped


@final
cdef class NewIds:
    """The new id of each old piece.

    `ids` contains kDropped for a dropped piece. The last item of `ids` is the new id of the unknown
    piece.
    """

    def __len__(self):
        return self.ids.size() - 1

    def __getitem__(self, size_t piece):
        """Return the new id of an old piece, or None if it was dropped."""
        if piece + 1 >= self.ids.size():
            raise IndexError(piece)
        return None if self.ids[piece] == kDropped else self.ids[piece]


@final
cdef class Lattices:
    """The lattices of all segments of a corpus over the current pieces.

    Parameters
    ----------
    corpus : Corpus
        The corpus; it must not change.
    pieces : Pieces
        The pieces from which the lattices are built.
    workers : Workers
        The worker threads.
    with_log1p : bool
        Whether log(1 + x) is computed with the function log1p of the C library, as in 0.2.3. If
        not, it is computed with log, as in earlier releases. The results differ in some bits.

    Notes
    -----
    The kernels for AVX2 run if the processor has AVX2 and the environment variable
    ``SPMCOMPAT_AVX2`` is not 0. They compute the same bits as the other kernels.
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
        """Return an independent copy of the lattices, over the same pieces."""
        cdef Lattices other = Lattices.__new__(Lattices)
        other.corpus = self.corpus
        other.pieces = self.pieces
        with nogil:
            other.lattices = self.lattices.copy()
        return other

    def renumber(self, Pieces pieces not None, NewIds new_ids not None, workers):
        """Replace the pieces by new pieces; `new_ids` contains the new ids of the old pieces."""
        cdef Crew crew = workers.crew
        start_change(
            dereference(crew.crew), self.lattices, renumber_lattices, pieces.pieces, new_ids.ids)
        crew.await_stage()
        self.pieces = pieces

    def rescore(self, Pieces pieces not None):
        """Change the scores of the pieces. `pieces` contains the same pieces in the same order."""
        self.pieces = pieces
        with nogil:
            self.lattices.rescore(pieces.pieces)


cdef tuple take_kept(KeptPieces& kept):
    """Return the result of a step as `Pieces` and `NewIds`, without copying the pieces."""
    cdef Pieces pieces = Pieces()
    cdef NewIds new_ids = NewIds()
    pieces.pieces = move(kept.pieces)
    new_ids.ids.swap(kept.new_ids)
    return pieces, new_ids
