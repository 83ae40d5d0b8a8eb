"""A thread that reads ahead, so that decompressing runs beside counting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from queue import Empty, Full, Queue, SimpleQueue
from typing import TypeVar

from spmcompat.runtime.cancel import CancelFlag
from spmcompat.runtime.job_thread import JobThread

Item = TypeVar("Item")

_AHEAD = 4
# The longest single wait, in seconds. It is short because an interrupt that arrives just before a
# wait does not end the wait.
_LONGEST_WAIT = 0.1
# Seconds to wait for the thread when it is no longer needed.
_PATIENCE = 0.8


def read_ahead(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items, which a thread takes from the iterable, a few before they are needed.

    The thread ends when this iterator is closed, which waits for it, so that what the iterable
    reads from may be closed then. It does not wait for long: a pipe may never hand out more.

    Raises
    ------
    BaseException
        What the iterable raises, behind the items before it.
    MemoryError
        If the thread ended for lack of memory.
    """
    ready: Queue[tuple[Item] | BaseException | None] = Queue(_AHEAD)
    stop = CancelFlag()

    def put(item: tuple[Item] | BaseException | None) -> None:
        while not stop.is_set():
            try:
                ready.put(item, timeout=_LONGEST_WAIT)
                return
            except Full:
                pass

    def work() -> None:
        try:
            for item in items:
                put((item,))
                if stop.is_set():
                    return
        except BaseException as error:
            put(error)
        else:
            put(None)

    thread = JobThread(0, SimpleQueue(), stop)
    thread.do(work)
    thread.dismiss()
    try:
        while (found := _next(ready, thread)) is not None:
            if isinstance(found, BaseException):
                raise found
            yield found[0]
    finally:
        stop.set()
        thread.await_end(_PATIENCE)


def _next(
    ready: Queue[tuple[Item] | BaseException | None], thread: JobThread
) -> tuple[Item] | BaseException | None:
    while True:
        has_ended = thread.has_ended()
        try:
            return ready.get(timeout=_LONGEST_WAIT)
        except Empty:
            if has_ended:
                raise MemoryError("a thread ended without a report") from None
