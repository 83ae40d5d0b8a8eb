"""Real threads. How many there are can never be seen in the output."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from queue import Queue
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

        def work(worker: int) -> None:
            while (task := queue.get()) is not _STOP:
                if self.cancel.is_set():
                    continue
                try:
                    do(worker, task)
                except BaseException as error:
                    errors.append(error)
                    self.cancel.set()

        threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(self.count)]
        for thread in threads:
            thread.start()
        try:
            for task in tasks:
                if errors:
                    break
                queue.put(task)
            _stop(queue, threads)
        except BaseException:
            self.cancel.set()
            _stop(queue, threads, _PATIENCE / self.count)
            raise
        if errors:
            raise errors[0]

    def call(self, function: Callable[[], Result]) -> Result:
        """Return what `function` returns, called in one worker."""
        results: list[Result] = []
        Workers(1, self.cancel).run([None], lambda _, __: results.append(function()))
        return results[0]


def _stop(queue: Queue[Any], threads: list[threading.Thread], timeout: float | None = None) -> None:
    for _ in threads:
        queue.put(_STOP)
    for thread in threads:
        thread.join(timeout)
