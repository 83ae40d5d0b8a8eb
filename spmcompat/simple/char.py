"""The char trainer: the most frequent characters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from spmcompat.counting.counts import log_shares
from spmcompat.errors import TextTooSmallError


def train(
    alphabet: Sequence[tuple[int, int]], limit: int | None, *, needs_text: bool = True
) -> list[tuple[bytes, float]]:
    """Train a char model.

    Parameters
    ----------
    alphabet : sequence of (int, int)
        Required characters (code points) with their counts, by descending count.
    limit : int, optional
        The maximum number of pieces; None means no limit.
    needs_text : bool
        Whether a text without characters is an error.

    Returns
    -------
    list of (bytes, float)
        Pieces and their scores (float32), by descending score.

    Raises
    ------
    TrainingError
        If none of the characters occurs in the text, and `needs_text` is set.
    """
    total = sum(count for _, count in alphabet)
    if total == 0 and needs_text:
        raise TextTooSmallError(
            "No character of the corpus is left to train on: its text consists only of meta "
            "pieces. Check the user_defined_symbols and the control_symbols."
        )
    chosen = list(islice(alphabet, limit))
    scores = log_shares((count for _, count in chosen), total)
    return [(chr(c).encode(), score) for (c, _), score in zip(chosen, scores, strict=True)]
