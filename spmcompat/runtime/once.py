"""Runs a command and prints its time and memory as JSON.

This module runs in a separate small process, because the peak memory that the system reports for a
process is at least the memory of its parent process.
"""

import os
import signal
import sys
import time


def main(command: list[str]) -> None:
    """Run the command with all its output on standard error; print its time and memory as JSON."""
    if sys.platform == "win32":
        sys.exit("Windows has no wait4.")
    # SIGTERM is for the command: this process waits until the command has ended.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    started = time.perf_counter()
    process = os.posix_spawn(
        command[0],
        command,
        os.environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, 2, 1)],
        setsigdef=[signal.SIGTERM],
    )
    _, status, usage = os.wait4(process, 0)
    seconds = time.perf_counter() - started
    cpu_seconds = usage.ru_utime + usage.ru_stime
    exit_code = os.waitstatus_to_exitcode(status)
    # macOS reports the peak memory in bytes, other systems in KiB.
    peak_kib = usage.ru_maxrss // 1024 if sys.platform == "darwin" else usage.ru_maxrss
    print(f"[{exit_code}, {seconds}, {cpu_seconds}, {peak_kib}]")


if __name__ == "__main__":
    main(sys.argv[1:])
