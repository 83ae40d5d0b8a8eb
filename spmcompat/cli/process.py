"""A command as a process of its own: what holds for all of them."""

import io
import os
import sys
from collections.abc import Callable
from typing import NoReturn


def run(main: Callable[[list[str]], int]) -> NoReturn:
    """Run a command on the arguments of the process, and exit with its status."""
    # A terminal that cannot show a piece shows its code points.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    status = 1
    try:
        status = main(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader went away; do not let the interpreter's own flush fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)
