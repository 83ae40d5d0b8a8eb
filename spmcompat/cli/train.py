"""The command ``spm_train``."""

import sys
from collections.abc import Sequence
from typing import TextIO

from spmcompat.cli import process
from spmcompat.errors import (
    BadValueError,
    OutOfMemoryError,
    TrainingError,
    UnknownOptionError,
    is_out_of_memory,
)
from spmcompat.options.flags import UsageError, help_text, read_flags

OK, FAILURE, USAGE, INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str], stdout: TextIO | None = None, stderr: TextIO | None = None) -> int:
    """Train a model as the command line says.

    Parameters
    ----------
    argv : sequence of str
        What follows the name of the program.
    stdout, stderr : text stream, optional
        Where help and messages go.

    Returns
    -------
    int
        0, or 1 for a failure, 2 for a command line that cannot be understood, 130 for Ctrl-C.
    """
    stdout = sys.stdout if stdout is None else stdout
    stderr = sys.stderr if stderr is None else stderr
    try:
        return _run(argv, stdout, stderr)
    except UsageError as error:
        return _fail(stderr, str(error), USAGE)
    except TrainingError as error:
        return _fail(stderr, str(error), FAILURE)
    except (MemoryError, ImportError) as error:
        # While modules are loaded.
        if not is_out_of_memory(error):
            raise
        return _fail(stderr, str(OutOfMemoryError("Starting", str(error))), FAILURE)
    except BrokenPipeError:
        raise  # the reader of the output went away; `process.run` ends quietly
    except OSError as error:
        return _fail(stderr, process.system_error(error), FAILURE)
    except KeyboardInterrupt:
        return _fail(stderr, "interrupted; no file was written.", INTERRUPTED)


def _run(argv: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    """Do what the command line says."""
    flags, rest = read_flags(argv)
    if flags.pop("help", "false") != "false":
        stdout.write(help_text())
        return OK
    if flags.pop("version", "false") != "false":
        from spmcompat import __version__  # noqa: PLC0415
        from spmcompat.releases import DEFAULT  # noqa: PLC0415

        stdout.write(f"spmcompat {__version__} (as sentencepiece {DEFAULT.version})\n")
        return OK
    for name in ("input", "model_prefix"):
        if not flags.get(name):
            raise UsageError(f"--{name} is missing. See --help.")

    from spmcompat.options.spec import from_flags  # noqa: PLC0415
    from spmcompat.runtime.progress import Report  # noqa: PLC0415
    from spmcompat.training import run  # noqa: PLC0415

    try:
        settings = from_flags(flags)
    except (BadValueError, UnknownOptionError) as error:
        raise UsageError(str(error)) from error
    if rest:
        settings.notes.append(f"Ignored: {' '.join(rest)}. Flags begin with two dashes.")
    run(settings, report=Report(settings.min_log_level, stderr))
    return OK


def _fail(stderr: TextIO, message: str, status: int) -> int:
    """Tell why the run ends, in one line."""
    line = " ".join(message.splitlines())
    stderr.write(f"spm_train: {line}\n")
    return status


def entry_point() -> None:
    """Run the console command."""
    process.run(main)
