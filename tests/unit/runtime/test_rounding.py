"""Rounding to float32."""

import math

from spmcompat.runtime.rounding import to_float32


def test_the_nearest_float32() -> None:
    assert to_float32(0.1) == 13421773 / 2**27
    assert to_float32(2.0**24 + 1) == 2.0**24
    assert math.copysign(1, to_float32(-0.0)) == -1


def test_numbers_beyond_the_largest_float32_become_infinite() -> None:
    assert to_float32(1e39) == math.inf
    assert to_float32(-1e39) == -math.inf
    assert math.isnan(to_float32(math.nan))
