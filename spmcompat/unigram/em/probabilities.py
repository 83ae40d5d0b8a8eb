"""Scores as logarithms of probabilities."""

import math
from collections.abc import Sequence


def log_sum(scores: Sequence[float]) -> float:
    """Return the logarithm of the sum of the probabilities; scores less this add up to one."""
    highest = max(scores)
    return highest + math.log(math.fsum(math.exp(score - highest) for score in scores))
