"""A binary heap that hands out equal keys in the order of libstdc++'s priority queue."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np

T = TypeVar("T")


class Agenda(Generic[T]):
    """Largest key first. The order among equal keys follows from the moves, so they are literal."""

    def __init__(self) -> None:
        self._entries: list[tuple[np.float32, T]] = []

    def __len__(self) -> int:
        return len(self._entries)

    def push(self, key: np.float32, item: T) -> None:
        self._entries.append((key, item))
        self._rise(len(self._entries) - 1, (key, item))

    def pop(self) -> tuple[np.float32, T]:
        """Take the root; the hole sinks to a leaf, then the last entry rises from there."""
        top, last = self._entries[0], self._entries.pop()
        if not self._entries:
            return top
        size, hole = len(self._entries), 0
        while 2 * hole + 1 < size:
            left, right = 2 * hole + 1, 2 * hole + 2
            # Of two equal children the right one moves up.
            child = right if right < size and not self._less(right, left) else left
            self._entries[hole] = self._entries[child]
            hole = child
        self._rise(hole, last)
        return top

    def _less(self, a: int, b: int) -> bool:
        return bool(self._entries[a][0] < self._entries[b][0])

    def _rise(self, hole: int, entry: tuple[np.float32, T]) -> None:
        while hole > 0:
            parent = (hole - 1) // 2
            if not self._entries[parent][0] < entry[0]:
                break
            self._entries[hole] = self._entries[parent]
            hole = parent
        self._entries[hole] = entry
