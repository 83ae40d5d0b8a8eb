"""Start workers repeatedly: each time, another allocation of Python fails.

This program runs in a separate process. It ends with a traceback if anything waits for too long.
"""

import _testcapi
import faulthandler
import sys

from spmcompat.errors import is_out_of_memory
from spmcompat.runtime.workers import Workers
from tests.waiting import LIMIT


def do_nothing(worker: int, task: int) -> None:
    """A task that does nothing."""


def runs_through(first: int) -> bool:
    """Return whether all tasks are completed although allocation number `first` fails."""
    workers = Workers(2)
    tasks = range(2)
    _testcapi.set_nomemory(first, first + 1)
    try:
        workers.feed(tasks, do_nothing)
    except Exception as error:
        _testcapi.remove_mem_hooks()
        if not is_out_of_memory(error):
            raise
        return False
    finally:
        _testcapi.remove_mem_hooks()
    return True


def delete(failing: int) -> None:
    """Delete workers while allocation number `failing` fails.

    Python would report an exception in ``__del__`` on standard error.
    """
    workers = Workers(2)
    workers.feed(range(2), do_nothing)
    _testcapi.set_nomemory(failing, failing + 1)
    try:
        del workers
    finally:
        _testcapi.remove_mem_hooks()


def main() -> None:
    """Make each allocation fail in turn, and print the results."""
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    # Before Python 3.11, calling `__del__` needs memory, and Python reports it if this call fails.
    if sys.version_info >= (3, 11):
        for failing in range(20):
            delete(failing)
    outcomes = [runs_through(first) for first in range(int(sys.argv[1]))]
    print(outcomes.count(False), outcomes[-1])


if __name__ == "__main__":
    main()
