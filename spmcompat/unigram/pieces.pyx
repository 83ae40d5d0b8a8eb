"""The pieces in training."""

from cython cimport final
from libc.math cimport isfinite

from spmcompat.errors import TrainingError


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
    def all_finite(self):
        """Whether every score is finite."""
        cdef float score
        for score in self.pieces.score:
            if not isfinite(score):
                return False
        return True

    def check(self):
        """Raise if there is no piece, or a score is not finite."""
        if len(self) == 0:
            raise TrainingError(
                "no pieces are loaded. The corpus is too small: every piece is expected less than "
                "half a time. Give more text or a smaller vocab_size.")
        if not self.all_finite:
            raise TrainingError(
                "A score is not finite: the sums of float32 over very long sentences overflow, or "
                "seeds of a file count 0. Cut the sentences, lower max_sentence_length, or give "
                "other counts.")
