"""Random choices that are determined by the bytes of a fuzzer."""

from __future__ import annotations

import random


class Choices(random.Random):
    """Draws numbers from given bytes, and when these are used up, from a fixed random sequence.

    The generators of hostile input make all their choices with an object of this class. The fuzzer
    learns which bytes lead to new code, so it can steer these generators.

    Parameters
    ----------
    data : bytes
        The bytes to draw from.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__(0)
        self._data = data
        self._at = 0

    def getrandbits(self, bits: int) -> int:
        """Return a number of at most `bits` bits."""
        size = (bits + 7) // 8
        taken = self._data[self._at : self._at + size]
        self._at += size
        # When the bytes are used up, zeros would not do: a generator that repeats a choice until
        # its result differs would never end.
        if len(taken) < size:
            return super().getrandbits(bits)
        return int.from_bytes(taken, "little") & ((1 << bits) - 1)

    def random(self) -> float:
        """Return a number in [0, 1); two bytes decide it."""
        return self.getrandbits(16) / 65536
