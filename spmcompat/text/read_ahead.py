"""A thread that reads ahead, so that decompression runs in parallel with counting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import repeat
from typing import TypeVar, cast

from spmcompat.runtime.workers import Workers

Item = TypeVar("Item")

_END = object()


def read_ahead(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items of an iterable that a thread reads ahead.

    Closing this iterator waits briefly for the thread to end, so that the input can be closed
    afterwards. The wait is limited, because a thread that reads a pipe may never end.

    Raises
    ------
    BaseException
        The exception of the iterable. The items before the exception are yielded first.
    MemoryError
        If the thread cannot start, or runs out of memory.
    """
    iterator = iter(items)
    with closing(Workers(1).ahead(repeat(None), lambda *_: next(iterator, _END))) as found:
        for item in found:
            if item is _END:
                return
            yield cast(Item, item)
