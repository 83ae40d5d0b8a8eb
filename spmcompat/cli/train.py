"""The command ``spm_train``."""

from __future__ import annotations

import sys

from spmcompat.cli import start  # all else is imported after it handles signals

TYPE_CHECKING = False  # importing typing would take long
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO


def main(argv: Sequence[str], stdout: TextIO | None = None, stderr: TextIO | None = None) -> int:
    """Train a model as the command line says.

    Parameters
    ----------
    argv : sequence of str
        The command line after the name of the program.
    stdout, stderr : text stream, optional
        Where help and messages go.

    Returns
    -------
    int
        0; 1 if training failed; 2 if the command line cannot be understood; 130 after Ctrl-C;
        143 after SIGTERM.
    """
    from spmcompat.cli.process import run_command  # noqa: PLC0415

    out = sys.stdout if stdout is None else stdout
    err = sys.stderr if stderr is None else stderr
    return run_command("spm_train", lambda: _run_in_memory(argv, out, err), err)


def _run_in_memory(argv: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    """Run the command; if memory runs out while modules are loaded, name the stage."""
    from spmcompat.errors import (  # noqa: PLC0415
        OutOfMemoryError,
        TrainingError,
        is_out_of_memory,
    )

    try:
        return _run(argv, stdout, stderr)
    except TrainingError:
        raise  # including `OutOfMemoryError`, which already names its stage
    except (MemoryError, ImportError) as error:
        if not is_out_of_memory(error):
            raise
        raise OutOfMemoryError("Starting", str(error)) from error


def _run(argv: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    """Run the command and return the exit status."""
    from spmcompat.cli.flags import UsageError, read_training_flags  # noqa: PLC0415
    from spmcompat.cli.process import OK  # noqa: PLC0415
    from spmcompat.errors import BadValueError, UnknownOptionError  # noqa: PLC0415

    flags, rest = read_training_flags(argv)
    if flags.pop("help", "false") != "false":
        from spmcompat.options.help import help_text  # noqa: PLC0415

        stdout.write(help_text())
        return OK
    if flags.pop("version", "false") != "false":
        from spmcompat.releases import DEFAULT  # noqa: PLC0415
        from spmcompat.version import __version__  # noqa: PLC0415

        stdout.write(f"spmcompat {__version__} (trains as sentencepiece {DEFAULT.version})\n")
        return OK
    for name in ("model_prefix",) if flags.get("counts") else ("input", "model_prefix"):
        if not flags.get(name):
            raise UsageError(f"--{name} is missing. See --help.")

    from spmcompat.options.from_flags import from_flags  # noqa: PLC0415
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


def entry_point() -> None:
    """Run the console command."""
    start.run("spm_train", main)
