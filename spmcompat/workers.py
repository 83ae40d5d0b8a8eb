"""Real threads. How many there are can never be seen in the output."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from queue import Queue
from typing import TypeVar

from spmcompat.cancel import CancelFlag

Task = TypeVar("Task")


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
        queue: Queue[Task | None] = Queue(maxsize=2 * self.count)
        errors: list[BaseException] = []

        def work(worker: int) -> None:
            while (task := queue.get()) is not None:
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
            self._stop(queue, threads)
        except BaseException:
            self.cancel.set()
            self._stop(queue, threads)
            raise
        if errors:
            raise errors[0]

    @staticmethod
    def _stop(queue: Queue[Task | None], threads: list[threading.Thread]) -> None:
        for _ in threads:
            queue.put(None)
        for thread in threads:
            thread.join()
