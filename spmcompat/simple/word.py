"""The word model: the most frequent words."""

from __future__ import annotations

from collections.abc import Iterable

from spmcompat.simple.shares import log_shares

_UNKNOWN = "\u2585".encode()


def train(words: Iterable[tuple[bytes, int]], limit: int | None) -> list[tuple[bytes, float]]:
    """Train a word model.

    Parameters
    ----------
    words : iterable of (bytes, int)
        Distinct words with their counts, by count descending, bytes ascending.
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
    total = 0
    known: list[tuple[bytes, int]] = []
    for word, count in words:
        total += count
        if _UNKNOWN not in word and (limit is None or len(known) < limit):
            known.append((word, count))
    scores = log_shares((count for _, count in known), total)
    return [(word, score) for (word, _), score in zip(known, scores, strict=True)]
