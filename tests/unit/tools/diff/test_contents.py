"""How values of a model are shown."""

import struct

import pytest

from spmcompat.engine import shortest


@pytest.mark.parametrize("value", [0.9995, -1e-30, 3.4028235e38, 1.4013e-45, 16777216.0, 0.1])
def test_a_float32_is_shown_as_its_shortest_decimal(value: float) -> None:
    exact = struct.unpack("<f", struct.pack("<f", value))[0]
    assert shortest(exact) == value
