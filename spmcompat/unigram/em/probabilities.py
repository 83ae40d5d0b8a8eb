"""Normalization of scores that are log probabilities."""

import math
from collections.abc import Sequence


def log_sum(scores: Sequence[float]) -> float:
    """Return the log of the sum of the probabilities. Scores minus this log are normalized."""
    highest = max(scores)
    return highest + math.log(math.fsum(math.exp(score - highest) for score in scores))
