"""The final pieces: all required characters, then the best of the rest."""

from spmcompat.unigram.pieces cimport Pieces


def finalize(Pieces pieces not None, list alphabet not None, Py_ssize_t size):
    """Return the final pieces, by score descending, then bytes ascending.

    Parameters
    ----------
    pieces : Pieces
        The trained pieces.
    alphabet : list of (int, int)
        Required characters, by count descending.
    size : int
        How many pieces there are to be; fewer if there are not so many.

    Returns
    -------
    list of (bytes, float)
        Pieces and scores (float32).

    Notes
    -----
    A required character that was pruned comes back with the lowest score, plus 0.0001 for each
    such character before it: added up in float32, as in sentencepiece 0.2.3.
    """
    cdef float lowest = pieces.pieces.min_score()
    cdef float rank = 0.0
    cdef float step = 0.0001
    cdef float score
    trained = dict(pieces)
    final = {}
    for character, _ in alphabet:
        piece = chr(character).encode()
        if piece in trained:
            final[piece] = trained[piece]
        else:
            score = lowest + rank
            final[piece] = score
            rank = rank + step
    for piece, piece_score in _ranked(trained):
        if len(final) == size:
            break
        final.setdefault(piece, piece_score)
    return _ranked(final)


def _ranked(scores):
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))
