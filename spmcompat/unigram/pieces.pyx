"""The pieces during training, and the final pieces."""

from cython cimport final
from libc.math cimport isfinite
from libc.stdint cimport uint32_t
from libcpp.string cimport string
from libcpp.vector cimport vector

from spmcompat.errors import NotFiniteError, TextTooSmallError


cdef extern from "spmcompat/unigram/pieces.hpp" namespace "spmcompat" nogil:
    CPieces cpp_finalize "spmcompat::finalize"(
        const CPieces& trained, const vector[string]& required, size_t size) except +


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
            raise TextTooSmallError(
                "no pieces are loaded. The corpus is too small: the expected count of every piece "
                "is below 0.5. Give more text or a smaller vocab_size.")
        if not self.all_finite:
            raise NotFiniteError(
                "A score is not finite: the float32 sums over very long sentences overflow, or the "
                "seed file has pieces with the count 0. Split the sentences, lower "
                "max_sentence_length, or correct the counts.")


def finalize(Pieces pieces not None, list alphabet not None, size_t size):
    """Return the final pieces, by descending score, then by bytes.

    Parameters
    ----------
    pieces : Pieces
        The trained pieces.
    alphabet : list of (int, int)
        Required characters, by descending count.
    size : int
        The number of pieces to return, if there are enough.

    Returns
    -------
    list of (bytes, float)
        Pieces and scores (float32).

    Notes
    -----
    A required character that was pruned is added again. Its score is the lowest score of a piece,
    plus 0.0001 for each character that was added before it. The steps of 0.0001 are added up in
    float32, as in sentencepiece 0.2.3.
    """
    cdef vector[string] required
    for character, _ in alphabet:
        required.push_back(<string>chr(character).encode())
    cdef Pieces chosen = Pieces()
    with nogil:
        chosen.pieces = cpp_finalize(pieces.pieces, required, size)
    cdef uint32_t i
    return [
        (bytes(piece_text(chosen.pieces, i)), chosen.pieces.score[i])
        for i in range(chosen.pieces.size())]
