"""The scores of the word and char models."""

from libc.math cimport logf
from libc.stdint cimport uint64_t


def log_shares(counts, total):
    """Return the logarithm of each count's share of `total`.

    Parameters
    ----------
    counts : iterable of int
        The counts. The logarithm for a count of 0 is minus infinity.
    total : int
        The number that the counts are divided by. It wraps at 2**64.

    Returns
    -------
    list of float
        Scores (float32).

    Notes
    -----
    Both logarithms and their difference are computed in float32, as in ``word_model_trainer.cc``
    and ``char_model_trainer.cc`` of sentencepiece 0.2.3.
    """
    cdef float log_total = logf(<float><uint64_t>(total % 2**64))
    cdef float score
    cdef uint64_t count
    scores = []
    for count in counts:
        score = logf(<float>count) - log_total
        scores.append(score)
    return scores
