"""Worker threads. Their number never changes the output."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from queue import Empty, SimpleQueue
from typing import TypeVar, cast

from spmcompat.errors import UnsupportedError
from spmcompat.runtime.threads import CancelFlag, Crew, JobThread

Task = TypeVar("Task")

_END = object()
# Seconds to wait for the threads to end after an error or an interrupt. A thread that is still in a
# kernel after this time ends by itself later.
_PATIENCE = 0.8
# The longest single wait for a report, in seconds. It is short because an interrupt that arrives
# just before a wait does not end the wait.
_LONGEST_WAIT = 0.1


class Workers:
    """Threads that divide tasks among themselves. The tasks release the GIL in compiled code.

    The calling thread only assigns tasks and waits, so it notices Ctrl-C even while every worker is
    in a kernel. The threads end when a method returns, so that the C library can reuse the memory
    that they freed for the next threads. A task must not call the workers that run it.

    Parameters
    ----------
    count : int
        The number of threads, at least 1.
    cancel : CancelFlag, optional
        A flag that the first error or interrupt sets. After that, the workers cannot be used.
    """

    def __init__(self, count: int, cancel: CancelFlag | None = None) -> None:
        self.count = count
        self.cancel = cancel or CancelFlag()
        self.threads: list[JobThread] = []
        self._reports: SimpleQueue[tuple[int, BaseException | None]] = SimpleQueue()

    @cached_property
    def crew(self) -> Crew:
        """A crew with `count` threads, for the stages in C++."""
        return Crew(self.count, self.cancel)

    def feed(self, tasks: Iterable[Task], do: Callable[[int, Task], None]) -> None:
        """Call ``do(worker, task)`` for every task. The calling thread iterates over `tasks`.

        While all workers are busy, at most one more task is taken from `tasks`.

        Raises
        ------
        BaseException
            The first exception that `tasks` or a call raised.
        MemoryError, RuntimeError
            If a thread cannot start.
        """
        used = 0
        with self._ending_threads():
            for task in tasks:
                worker = used if used < self.count else self._next_report()
                self._order(worker, partial(do, worker, task))
                used = max(used, worker + 1)
            for _ in range(used):
                self._next_report()

    def ahead(self, items: Iterable[Task]) -> Generator[Task, None, None]:
        """Yield the items of an iterable. While the caller uses one, a thread reads the next one.

        The caller must not use the workers for anything else until it has received the last item.

        Raises
        ------
        BaseException
            The exception of the iterable. The items before the exception are yielded first.
        MemoryError, RuntimeError
            If the thread cannot start.
        """
        iterator = iter(items)
        read: list[object] = []

        def read_next() -> None:
            read.append(next(iterator, _END))

        with self._ending_threads():
            self._order(0, read_next)
            while True:
                self._next_report()
                item = read.pop()
                if item is _END:
                    return
                self._order(0, read_next)
                yield cast(Task, item)

    def _order(self, worker: int, job: Callable[[], None]) -> None:
        """Give a job to a worker. The first job of each worker starts its thread."""
        if worker == len(self.threads):
            try:
                self.threads.append(JobThread(worker, self._reports, self.cancel))
            except RuntimeError as error:
                if "subinterpreter" not in str(error):
                    raise
                raise UnsupportedError(
                    "A subinterpreter cannot start the threads that this needs. Call the function "
                    "in the main interpreter, or in another process."
                ) from error
        self.threads[worker].do(job)

    def _next_report(self) -> int:
        """Wait until a job is done. Return its worker, or raise its exception."""
        report = None
        while report is None:
            one_has_ended = any(thread.has_ended() for thread in self.threads)
            with suppress(Empty):
                report = self._reports.get(timeout=_LONGEST_WAIT)
            if report is None and one_has_ended:
                raise MemoryError("a thread ended without a report")
        worker, error = report
        if error is not None:
            raise error
        return worker

    @contextmanager
    def _ending_threads(self) -> Iterator[None]:
        """Let the threads end after their jobs. After an error or interrupt, stop the jobs."""
        self.threads = []
        try:
            yield
        except BaseException:
            self.cancel.set()
            raise
        finally:
            self._dismiss()

    def _dismiss(self) -> None:
        """End the threads. Wait until they have ended, but at most `_PATIENCE` seconds."""
        deadline = time.monotonic() + _PATIENCE
        for thread in self.threads:
            thread.dismiss()
        for thread in self.threads:
            thread.await_end(max(deadline - time.monotonic(), 0))
