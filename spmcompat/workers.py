"""Real threads. How many there are can never be seen in the output."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from queue import Empty, Queue
from typing import Any, TypeVar

from spmcompat.cancel import CancelFlag

Task = TypeVar("Task")
Result = TypeVar("Result")

_STOP = object()
# Seconds that an interrupt waits for threads; one that is still in a kernel then ends by itself.
_PATIENCE = 0.8


class Workers:
    """Threads that share out tasks; the tasks release the GIL in compiled code.

    The calling thread only feeds them and waits, so that it notices a Ctrl-C even while
    every worker is inside a kernel.

    Parameters
    ----------
    count : int
        Number of threads, at least 1.
    cancel : CancelFlag, optional
        Shared with other workers of the same training.
    """

    def __init__(self, count: int, cancel: CancelFlag | None = None) -> None:
        self.count = count
        self.cancel = cancel or CancelFlag()

    def run(self, tasks: Iterable[Task], do: Callable[[int, Task], None]) -> None:
        """Call ``do(worker, task)`` for every task, taken from `tasks` in the calling thread.

        Raises
        ------
        BaseException
            What `tasks` or any call raised first, after all threads have stopped.
        """
        queue: Queue[Any] = Queue(maxsize=2 * self.count)
        errors: list[BaseException] = []
        ended = [threading.Event() for _ in range(self.count)]

        def work(worker: int) -> None:
            while (task := queue.get()) is not _STOP:
                if self.cancel.is_set():
                    continue
                try:
                    do(worker, task)
                except BaseException as error:
                    errors.append(error)
                    self.cancel.set()
            ended[worker].set()

        threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(self.count)]
        for thread in threads:
            thread.start()
        try:
            for task in tasks:
                if errors:
                    break
                queue.put(task)
            _stop(queue, threads, ended)
        except BaseException:
            self.cancel.set()
            _empty(queue)
            _stop(queue, threads, ended, _PATIENCE / self.count)
            raise
        if errors:
            raise errors[0]

    def call(self, function: Callable[[], Result]) -> Result:
        """Return what `function` returns, called in one worker."""
        results: list[Result] = []
        Workers(1, self.cancel).run([None], lambda _, __: results.append(function()))
        return results[0]


def _empty(queue: Queue[Any]) -> None:
    """Make room, or the marks to stop wait until a worker comes back from its kernel."""
    with suppress(Empty):
        while True:
            queue.get_nowait()


def _stop(
    queue: Queue[Any],
    threads: list[threading.Thread],
    ended: list[threading.Event],
    timeout: float | None = None,
) -> None:
    """Wait until all threads have ended, or about `timeout` seconds for each.

    Not by their `join` alone: before Python 3.13, a thread whose join was interrupted passes for
    one that has ended.
    """
    for _ in threads:
        queue.put(_STOP)
    for thread, end in zip(threads, ended, strict=True):
        if end.wait(timeout):
            thread.join()
