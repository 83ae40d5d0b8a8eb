"""Rounding of Python's floats, which are doubles."""

import ctypes

LARGEST_FLOAT32 = 2.0**128 - 2.0**104


def to_float32(value: float) -> float:
    """Return the nearest float32, or infinity beyond the largest one."""
    return ctypes.c_float(value).value
