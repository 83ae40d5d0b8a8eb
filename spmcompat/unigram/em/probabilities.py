"""Normalization of scores that are log probabilities."""

import math
from collections.abc import Sequence


def log_sum(scores: Sequence[float]) -> float:
    """Return the log of the sum of all probabilities. Subtract it from scores to normalize them."""
    highest = max(scores)
    return highest + math.log(math.fsum(math.exp(score - highest) for score in scores))
