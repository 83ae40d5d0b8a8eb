"""The word model: the most frequent words."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from spmcompat.simple.shares import log_shares

_UNKNOWN = "\u2585".encode()


def train(
    words: Iterable[tuple[bytes, int]], total: int, limit: int | None
) -> list[tuple[bytes, float]]:
    """Train a word model.

    Parameters
    ----------
    words : iterable of (bytes, int)
        Distinct words with their counts, by count descending, bytes ascending.
    total : int
        The sum of all counts.
    limit : int, optional
        The largest number of pieces; None takes all words.

    Returns
    -------
    list of (bytes, float)
        Pieces and their scores (float32), by score descending.

    Notes
    -----
    A word that holds an unknown character is no piece, but counts.
    """
    known = list(islice((item for item in words if _UNKNOWN not in item[0]), limit))
    scores = log_shares((count for _, count in known), total)
    return [(word, score) for (word, _), score in zip(known, scores, strict=True)]
