"""A thread that reads ahead, so that decompressing runs beside counting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import repeat
from typing import TypeVar, cast

from spmcompat.runtime.workers import Workers

Item = TypeVar("Item")

_END = object()


def read_ahead(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items, each of which a thread takes from the iterable before it is needed.

    The thread ends when this iterator is closed, which waits for it, so that what the iterable
    reads from may be closed then. It does not wait for long: a pipe may never hand out more.

    Raises
    ------
    BaseException
        What the iterable raises, behind the items before it.
    MemoryError
        If the thread cannot start, or ended for lack of memory.
    """
    iterator = iter(items)
    with closing(Workers(1).ahead(repeat(None), lambda *_: next(iterator, _END))) as found:
        for item in found:
            if item is _END:
                return
            yield cast(Item, item)
