"""Starts a command.

This module imports nothing that takes time, so that a signal during the imports of a command ends
it with one line, too. Before its first line, Python handles signals as it does for any program.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # not that of typing, which takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

SIGINT = 2
"""The number of the signal of Ctrl-C on all systems; the module of signals takes long to import."""


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
        """Exit at once. Nothing was done yet."""
        word = "interrupted" if number == SIGINT else "terminated"
        try:  # noqa: SIM105 - contextlib takes long to import
            os.write(2, f"{name}: {word}.\n".encode())
        except OSError:
            pass
        os._exit(128 + number)

    try:
        import signal  # noqa: PLC0415

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                signal.signal(number, end)
        from spmcompat.cli import process  # noqa: PLC0415
    except KeyboardInterrupt:
        end(SIGINT)
    process.run(name, main, end)
