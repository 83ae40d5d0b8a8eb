"""The word trainer: its pieces are the most frequent words."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from spmcompat.counting.counts import log_shares
from spmcompat.unicode.marks import UNKNOWN_MARK


def train(
    words: Iterable[tuple[bytes, int]], total: int, limit: int | None
) -> list[tuple[bytes, float]]:
    """Train a word model.

    Parameters
    ----------
    words : iterable of (bytes, int)
        Distinct words with their counts, by descending count, then by bytes.
    total : int
        The sum of all counts.
    limit : int, optional
        The maximum number of pieces; None takes all words.

    Returns
    -------
    list of (bytes, float)
        Pieces and their scores (float32), by descending score.

    Notes
    -----
    A word with an unknown character does not become a piece, but its count is included in `total`.
    """
    unknown = UNKNOWN_MARK.encode()
    known = list(islice((item for item in words if unknown not in item[0]), limit))
    scores = log_shares((count for _, count in known), total)
    return [(word, score) for (word, _), score in zip(known, scores, strict=True)]
