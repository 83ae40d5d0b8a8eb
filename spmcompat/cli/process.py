"""Runs a command as a process: its streams, its signals, and its exit status after an error."""

import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn, TextIO, cast

from spmcompat.cli.flags import Command, parse
from spmcompat.errors import (
    NOT_COMPILED,
    TrainingError,
    UsageError,
    is_not_compiled,
    is_out_of_memory,
    printable,
)
from spmcompat.runtime.messages import Messages
from spmcompat.runtime.outputs import is_standard_output, written
from spmcompat.runtime.terminal import fitted

OK, FAILURE, USAGE, INTERRUPTED = 0, 1, 2, 130
PAGE = "docs/errors.md"
"""The page that lists the kinds of errors."""

_PAUSE = 0.01  # seconds until a signal is sent again; a finalizer can end in this time
_received: list[int] = []  # the signals that ended the command


class Stopped(KeyboardInterrupt):
    """Raised when a signal asks the command to end.

    Parameters
    ----------
    number : int
        The number of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def run(name: str, main: Callable[[list[str]], int], numbers: Sequence[signal.Signals]) -> NoReturn:
    """Run a command on the arguments of the process, and exit with its status.

    Parameters
    ----------
    name : str
        The command; messages begin with it.
    main : callable
        Takes the arguments and returns the exit status.
    numbers : sequence of signal.Signals
        The signals that should end the command.
    """
    _provide_streams()
    try:
        _handle(numbers, _stop)
        sys.unraisablehook = _raise_again
        status = run_command(name, lambda: main(sys.argv[1:]), sys.stderr)
    except KeyboardInterrupt as error:  # a second signal arrived while the first one was handled
        status = _stopped_status(error)
    # The command has ended, but Python still cleans up. No signal may change the exit status now.
    _handle(numbers, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
    sys.exit(status)


def _handle(
    numbers: Sequence[signal.Signals], handler: Callable[..., object] | signal.Handlers
) -> None:
    for number in numbers:
        signal.signal(number, handler)


def _stop(number: int, _: object) -> NoReturn:
    _received.append(number)
    raise Stopped(number)


def _raise_again(lost: "sys.UnraisableHookArgs") -> None:
    """Resend a signal whose exception was lost because it was raised in a finalizer."""
    error = lost.exc_value
    # The signal is resent by a timer. Windows has no such timer.
    if isinstance(error, Stopped) and sys.platform != "win32":
        signal.signal(signal.SIGALRM, lambda *_: _stop(error.number, None))
        signal.setitimer(signal.ITIMER_REAL, _PAUSE)
    else:
        sys.__unraisablehook__(lost)


def _stopped_status(error: KeyboardInterrupt) -> int:
    return 128 + error.number if isinstance(error, Stopped) else INTERRUPTED


def _provide_streams() -> None:
    """Make sure that the three standard streams exist.

    If a stream is closed, the next file that the command opens would get the number of the stream,
    and could then receive messages. So the null device is opened with this number instead. For
    standard input and output, it is opened in the wrong direction, so that using them is an error.
    """
    for number, direction in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, direction)  # the system assigns the lowest free number
    # A character that the terminal cannot show is written as its code point.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    elif sys.stdout is None:
        raw = io.FileIO(1, "w", closefd=False)
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), "utf-8", "backslashreplace")
    sys.stderr = cast(TextIO, Messages(sys.stderr))


def _flush_stdout() -> None:
    """Flush standard output.

    Raises
    ------
    OSError
        If that fails.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        error.filename = "standard output"
        raise


def _drop_broken_output() -> None:
    """Discard output that could not be written; otherwise, Python would write it again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def system_error(error: OSError) -> str:
    """Return a one-line message for an error of the operating system, such as a failed write."""
    named = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
    reason = error.strerror or " ".join(str(error).splitlines())
    return f"{named}{reason}. Check the path, its permissions and the space on the disk."


def perform(
    command: Command, arguments: Sequence[str], stdout: TextIO, stderr: TextIO
) -> int | None:
    """Run a command, or show its help or its version, and return the exit status.

    Raises
    ------
    UsageError
        If the arguments cannot be understood.
    """
    given = parse(command, arguments)
    if given.help:
        from spmcompat.cli.help import help_text

        stdout.write(help_text(command))
        return OK
    if given.version:
        from spmcompat.releases import DEFAULT
        from spmcompat.version import __version__

        stdout.write(f"spmcompat {__version__} (trains as sentencepiece {DEFAULT.version})\n")
        return OK
    output = getattr(given, "output", None)
    if isinstance(output, str) and is_standard_output(output):
        stdout = stderr  # so that no report follows the output
    return command.run(given, stdout, stderr)


def run_command(
    name: str,
    do: Callable[[], int | None],
    stderr: TextIO,
    *,
    failure: int = FAILURE,
    interrupted: str = "",
) -> int:
    """Run a command, report an error in one line, and return the exit status.

    Parameters
    ----------
    name : str
        The command; error messages begin with it.
    do : callable
        The work to do. It returns the exit status; None means `OK`.
    stderr : text stream
        Where to write the error.
    failure : int
        The exit status after an error other than a `UsageError`.
    interrupted : str
        The message after Ctrl-C; by default, it says whether files were written.

    Returns
    -------
    int
        The exit status that `do` returns; `USAGE` after a `UsageError`; `failure` after another
        error; 128 plus the number of the signal if a signal ended the command.
    """
    before = len(written)
    try:
        status = _status_of(do)
        _flush_stdout()
        return status
    except TrainingError as error:
        message, status = str(error), USAGE if isinstance(error, UsageError) else failure
        if error.kind != UsageError.kind:  # if a flag is wrong, --help says more than the page
            message += f" [{PAGE}#{error.kind}]"
    except (MemoryError, ImportError) as error:
        message, status = "Memory ran out.", failure
        if isinstance(error, ImportError) and is_not_compiled(error):
            message = NOT_COMPILED
        elif not is_out_of_memory(error):
            raise
    except BrokenPipeError:  # the program that read the output has closed it
        _drop_broken_output()
        return failure
    except OSError as error:
        _drop_broken_output()
        message, status = system_error(error), failure
    except KeyboardInterrupt as error:
        status = _stopped_status(error)
        word = "interrupted" if status == INTERRUPTED else "terminated"
        is_done = len(written) > before
        files = " after the files were written" if is_done else "; no file was written"
        message = f"{word}. {interrupted}" if interrupted else f"{word}{files}."
    line = f"{name}: {printable(' '.join(message.splitlines()))}"
    stderr.write(f"{fitted(line, stderr)}\n")
    return status


def _status_of(do: Callable[[], int | None]) -> int:
    """Return the exit status of the work.

    After a signal, any error is treated as an effect of the signal. For example, Python's compiler
    turns an exception that a signal handler raises into a `SyntaxError`.
    """
    try:
        return do() or OK
    except Exception as error:
        if _received:
            raise Stopped(_received[-1]) from error
        raise
