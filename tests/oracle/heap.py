"""Binary heaps that move entries as libstdc++ does, so that equal keys leave in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np

T = TypeVar("T")


class Agenda(Generic[T]):
    """A priority queue like std::priority_queue: the entry with the largest key comes first."""

    def __init__(self) -> None:
        self._entries: list[tuple[np.float32, T]] = []

    def __len__(self) -> int:
        return len(self._entries)

    def push(self, key: np.float32, item: T) -> None:
        self._entries.append((key, item))
        _rise(self._entries, len(self._entries) - 1, (key, item))

    def pop(self) -> tuple[np.float32, T]:
        top, last = self._entries[0], self._entries.pop()
        if self._entries:
            _sink(self._entries, 0, last)
        return top


def largest(keys: Sequence[int], size: int) -> list[int]:
    """Return the indices of the largest keys in any order, with ties as in std::partial_sort.

    A heap contains the largest keys so far. The smallest of them is on top, and the next larger
    key replaces it.
    """
    entries = [(-key, index) for index, key in enumerate(keys[:size])]
    for hole in reversed(range(size // 2)):
        _sink(entries, hole, entries[hole])
    for index in range(size, len(keys)):
        if size > 0 and -keys[index] < entries[0][0]:
            _sink(entries, 0, (-keys[index], index))
    return [index for _, index in entries]


def _sink(entries: list[tuple[Any, T]], hole: int, entry: tuple[Any, T]) -> None:
    """Move a hole down to a leaf. Put the entry there, and move the entry up to its position."""
    top, size = hole, len(entries)
    while 2 * hole + 1 < size:
        left, right = 2 * hole + 1, 2 * hole + 2
        # If both children are equal, the right one moves up.
        child = right if right < size and not entries[right][0] < entries[left][0] else left
        entries[hole] = entries[child]
        hole = child
    _rise(entries, hole, entry, top)


def _rise(entries: list[tuple[Any, T]], hole: int, entry: tuple[Any, T], top: int = 0) -> None:
    while hole > top:
        parent = (hole - 1) // 2
        if not entries[parent][0] < entry[0]:
            break
        entries[hole] = entries[parent]
        hole = parent
    entries[hole] = entry
