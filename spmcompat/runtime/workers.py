"""Worker threads. Their number never changes the output."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sized
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from itertools import count
from queue import Empty, SimpleQueue
from typing import TypeVar, cast

from spmcompat.errors import UnsupportedError
from spmcompat.runtime.threads import CancelFlag, Crew, JobThread

Task = TypeVar("Task")
Result = TypeVar("Result")

_NO_TASK = object()
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

    def run(self, tasks: Iterable[Task], do: Callable[[int, Task], None]) -> None:
        """Call ``do(worker, task)`` for every task. The workers take the tasks in order.

        Only one worker at a time takes a task, so `tasks` may be a generator.

        Raises
        ------
        BaseException
            The first exception that a call raised.
        MemoryError, RuntimeError
            If a thread cannot start.
        """
        waiting = iter(tasks)
        turn = threading.Lock()

        def share(worker: int) -> None:
            while not self.cancel.is_set():
                with turn:
                    task = next(waiting, _NO_TASK)
                if task is _NO_TASK:
                    break
                do(worker, cast(Task, task))

        sharers = range(min(self.count, len(tasks)) if isinstance(tasks, Sized) else self.count)
        with self._ending_threads():
            for worker in sharers:
                self._order(worker, partial(share, worker))
            for _ in sharers:
                self._next_report()

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

    def ahead(
        self, tasks: Iterable[Task], do: Callable[[int, Task], Result]
    ) -> Generator[Result, None, None]:
        """Yield ``do(worker, task)`` for every task, in order.

        While the caller uses a result, the workers compute the results of the next tasks: at most
        two tasks for each worker. The caller must not use the workers for anything else until it
        has received the last result.

        Raises
        ------
        BaseException
            The first exception that `tasks` or a call raised.
        MemoryError, RuntimeError
            If a thread cannot start.
        """
        waiting = enumerate(tasks)
        idle = [*range(self.count)]
        busy: dict[int, int] = {}  # the index of each worker's task
        computed: dict[int, Result] = {}
        finished: set[int] = set()
        started = 0

        def work(worker: int, index: int, task: Task) -> None:
            computed[index] = do(worker, task)

        with self._ending_threads():
            for index in count():
                while idle and started - index < 2 * self.count:
                    numbered = next(waiting, None)
                    if numbered is None:
                        break
                    worker = idle.pop(0)
                    busy[worker], started = started, started + 1
                    self._order(worker, partial(work, worker, *numbered))
                if index == started:
                    return
                while index not in finished:
                    worker = self._next_report()
                    finished.add(busy[worker])
                    idle.append(worker)
                finished.remove(index)
                yield computed.pop(index)

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
