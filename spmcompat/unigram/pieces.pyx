"""The pieces of the model in training."""

from cython cimport final
from libc.math cimport isfinite


@final
cdef class Pieces:
    """Pieces with their scores (float32), in the order of their ids."""

    def __init__(self, items=()):
        cdef bytes piece
        for piece, score in items:
            self.pieces.add(piece, score)

    def __len__(self):
        return self.pieces.size()

    def __iter__(self):
        """Yield (piece, score) pairs."""
        cdef uint32_t i
        for i in range(self.pieces.size()):
            yield bytes(piece_text(self.pieces, i)), self.pieces.score[i]

    @property
    def min_score(self):
        """The lowest score."""
        return self.pieces.min_score()

    @property
    def all_finite(self):
        """Whether every score is a number."""
        cdef float score
        for score in self.pieces.score:
            if not isfinite(score):
                return False
        return True
