"""Runs a command and prints as JSON what it cost.

A process of its own, and a small one: the peak that the system tells of a process is at least
the memory of the one that started it.
"""

import os
import sys
import time


def main(command: list[str]) -> None:
    """Run the command, all its output on standard error, and print the cost on standard output."""
    started = time.perf_counter()
    to_stderr = [(os.POSIX_SPAWN_DUP2, 2, 1)]
    process = os.posix_spawn(command[0], command, os.environ, file_actions=to_stderr)
    _, status, usage = os.wait4(process, 0)
    seconds = time.perf_counter() - started
    cpu_seconds = usage.ru_utime + usage.ru_stime
    exit_code = os.waitstatus_to_exitcode(status)
    print(f"[{exit_code}, {seconds}, {cpu_seconds}, {usage.ru_maxrss}]")


if __name__ == "__main__":
    main(sys.argv[1:])
