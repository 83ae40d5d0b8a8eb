"""The final pieces: all required characters, then the best other pieces."""

from libc.stdint cimport uint32_t
from libcpp.string cimport string
from libcpp.vector cimport vector

from spmcompat.unigram.pieces cimport CPieces, Pieces, piece_text


cdef extern from "spmcompat/unigram/final.hpp" namespace "spmcompat" nogil:
    CPieces cpp_finalize "spmcompat::finalize"(
        const CPieces& trained, const vector[string]& required, size_t size) except +


def finalize(Pieces pieces not None, list alphabet not None, size_t size):
    """Return the final pieces, by score descending, then bytes ascending.

    Parameters
    ----------
    pieces : Pieces
        The trained pieces.
    alphabet : list of (int, int)
        Required characters, by count descending.
    size : int
        How many pieces to return; fewer if there are not enough.

    Returns
    -------
    list of (bytes, float)
        Pieces and scores (float32).

    Notes
    -----
    A required character that was pruned comes back with the lowest score, plus 0.0001 for each
    such character before it. The steps are added up in float32, as in sentencepiece 0.2.3.
    """
    cdef vector[string] required
    for character, _ in alphabet:
        required.push_back(<string>chr(character).encode())
    cdef Pieces final = Pieces()
    with nogil:
        final.pieces = cpp_finalize(pieces.pieces, required, size)
    cdef uint32_t i
    return [
        (bytes(piece_text(final.pieces, i)), final.pieces.score[i])
        for i in range(final.pieces.size())]
