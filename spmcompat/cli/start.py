"""Starts a command.

This module imports only modules that load fast, so that it can handle signals early. If a signal
arrives while a command imports its modules, the command prints one line and ends. Until this module
runs, Python handles signals in its own way.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # importing typing is slow
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

SIGINT = 2
"""The number of the Ctrl-C signal on all systems; importing it from ``signal`` would take long."""

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
"""The signals that end a command, unless they are ignored."""


def run(name: str, main: Callable[[list[str]], int]) -> NoReturn:
    """Run a command on the arguments of the process, and exit with its status.

    Parameters
    ----------
    name : str
        The command; messages begin with it.
    main : callable
        Takes the arguments and returns the exit status.
    """

    def end(number: int, _: object = None) -> NoReturn:
        """Exit at once. There is nothing to clean up yet."""
        word = "interrupted" if number == SIGINT else "terminated"
        try:  # noqa: SIM105 - contextlib takes long to import
            os.write(2, f"{name}: {word}.\n".encode())
        except OSError:
            pass
        os._exit(128 + number)

    numbers = []
    try:
        import signal

        usual = (signal.SIG_DFL, signal.default_int_handler)
        for number in signal.Signals:  # compares names: Windows has no SIGHUP
            if number.name in SIGNALS and signal.getsignal(number) in usual:
                signal.signal(number, end)
                numbers.append(number)
        from spmcompat.cli import process
    except KeyboardInterrupt:
        end(SIGINT)
    process.run(name, main, numbers)
