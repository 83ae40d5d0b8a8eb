"""The number of pieces that a round of pruning keeps, and the number of rounds that are left."""

import math

from spmcompat.runtime.rounding import to_float32


def shrunk(size: int, factor: float) -> int:
    """Return `size` times `factor`, computed in float32 and truncated, as the reference does."""
    return int(to_float32(to_float32(size) * factor))


def rounds_left(size: int, desired_size: int, factor: float) -> int:
    """Estimate how many rounds it takes to prune `size` pieces to the desired number."""
    if factor == 0:
        return 1
    return max(math.ceil(math.log(max(size / desired_size, 1)) / -math.log(factor)), 1)
