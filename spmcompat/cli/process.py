"""A command as a process of its own: what holds for all of them."""

import io
import os
import sys
from collections.abc import Callable
from typing import NoReturn, TextIO

from spmcompat.errors import TrainingError

OK, FAILURE, INTERRUPTED = 0, 1, 130


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


def system_error(error: OSError) -> str:
    """Return in one line what the operating system refuses, such as to write a file."""
    named = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
    reason = error.strerror or " ".join(str(error).splitlines())
    return f"{named}{reason}. Check the path, its permissions and the space on the disk."


def run_telling_errors(
    name: str, do: Callable[[], None], stderr: TextIO, interrupted: str = "interrupted."
) -> int:
    """Do it and return the status; whatever is the user's to mend is told in one line."""
    try:
        do()
    except TrainingError as error:
        stderr.write(f"{name}: {' '.join(str(error).splitlines())}\n")
        return FAILURE
    except MemoryError:
        stderr.write(f"{name}: Memory ran out.\n")
        return FAILURE
    except BrokenPipeError:
        raise  # the reader of the output went away; `run` ends quietly
    except OSError as error:
        stderr.write(f"{name}: {system_error(error)}\n")
        return FAILURE
    except KeyboardInterrupt:
        stderr.write(f"{name}: {interrupted}\n")
        return INTERRUPTED
    return OK
