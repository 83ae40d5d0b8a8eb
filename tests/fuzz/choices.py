"""Random choices that the bytes of a fuzzer decide."""

from __future__ import annotations

import random


class Choices(random.Random):
    """Draws from bytes, and after their end from a fixed sequence.

    The fuzzer learns which bytes lead to new code, so it steers the generators of hostile input,
    which take all their choices from an object of this class.

    Parameters
    ----------
    data : bytes
        The bytes.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__(0)
        self._data = data
        self._at = 0

    def getrandbits(self, bits: int) -> int:
        """Return a number that has this many bits, or fewer."""
        size = (bits + 7) // 8
        taken = self._data[self._at : self._at + size]
        self._at += size
        # Endless zeros would lead to an endless loop where a generator repeats a choice.
        if len(taken) < size:
            return super().getrandbits(bits)
        return int.from_bytes(taken, "little") & ((1 << bits) - 1)

    def random(self) -> float:
        """Return a number in [0, 1); two bytes decide it."""
        return self.getrandbits(16) / 65536
