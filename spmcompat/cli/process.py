"""A command as a process: its exit status, and the one way from an error to it."""

import io
import os
import sys
from collections.abc import Callable
from typing import NoReturn, TextIO

from spmcompat.cli.flags import UsageError
from spmcompat.errors import TrainingError, is_out_of_memory
from spmcompat.runtime.printing import printable

OK, FAILURE, USAGE, INTERRUPTED = 0, 1, 2, 130


def run(main: Callable[[list[str]], int]) -> NoReturn:
    """Run a command on the arguments of the process, and exit with its status."""
    # A terminal that cannot show a character shows its code point.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    status = FAILURE
    try:
        status = main(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # Nobody reads the output any more. When the interpreter ends, it flushes the output again;
        # now this cannot fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)


def system_error(error: OSError) -> str:
    """Return one line that says what the operating system refused, such as to write a file."""
    named = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
    reason = error.strerror or " ".join(str(error).splitlines())
    return f"{named}{reason}. Check the path, its permissions and the space on the disk."


def run_command(
    name: str,
    do: Callable[[], int | None],
    stderr: TextIO,
    *,
    failure: int = FAILURE,
    interrupted: str = "interrupted.",
) -> int:
    """Run a command, write an error of the user in one line, and return the exit status.

    Parameters
    ----------
    name : str
        The command; the line of an error begins with it.
    do : callable
        The work. It returns the exit status; None means `OK`.
    stderr : text stream
        Where to write the error.
    failure : int
        The exit status of a `TrainingError`, and of an error of the operating system. That of a
        `UsageError` is `USAGE`.
    interrupted : str
        What to write when the user presses Ctrl-C.

    Returns
    -------
    int
        The exit status.
    """
    try:
        return do() or OK
    except UsageError as error:
        message, status = str(error), USAGE
    except TrainingError as error:
        message, status = str(error), failure
    except (MemoryError, ImportError) as error:
        if not is_out_of_memory(error):
            raise
        message, status = "Memory ran out.", failure
    except BrokenPipeError:
        raise  # nobody reads the output any more; `run` ends without a message
    except OSError as error:
        message, status = system_error(error), failure
    except KeyboardInterrupt:
        message, status = interrupted, INTERRUPTED
    stderr.write(f"{name}: {printable(' '.join(message.splitlines()))}\n")
    return status
