"""Rounding of Python's floats, which are doubles."""

import ctypes
import struct

LARGEST_FLOAT32 = 2.0**128 - 2.0**104


def to_float32(value: float) -> float:
    """Return the nearest float32, or infinity beyond the largest one."""
    return ctypes.c_float(value).value


def shortest(value: float) -> float:
    """Return the shortest decimal number, such as 0.9995, that rounds to this float32."""
    for digits in range(6, 10):
        short = float(f"{value:.{digits}g}")
        try:
            if struct.pack("<f", short) == struct.pack("<f", value):
                return short
        except OverflowError:  # `short` is above the largest float32
            pass
    return value
