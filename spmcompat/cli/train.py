"""The command ``spm_train``."""

from __future__ import annotations

import sys

from spmcompat.cli import start  # imported first: it handles signals

TYPE_CHECKING = False  # importing `typing` takes too long
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import SimpleNamespace
    from typing import TextIO

    from spmcompat.cli.flags import Command


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
        The exit status: 0 after success, 1 if training failed, 2 if the command line is invalid,
        130 after Ctrl-C, 143 after SIGTERM.
    """
    from spmcompat.cli.process import run_command

    out = sys.stdout if stdout is None else stdout
    err = sys.stderr if stderr is None else stderr
    return run_command("spm_train", lambda: _run_in_memory(argv, out, err), err)


def command() -> Command:
    """Return the description of the command."""
    from spmcompat.cli.flags import Command
    from spmcompat.options.table import GROUPS

    return Command(
        "spm_train",
        "Trains a SentencePiece model. It writes the same bytes as the spm_train of "
        "sentencepiece, faster and in less memory.",
        "--input=FILE[,FILE...] --model_prefix=NAME [flags]",
        _train,
        options=GROUPS,
        required=[("input", "counts", "language_counts"), ("model_prefix",)],
        exclusive=[
            ("input", "counts"),
            ("input", "language_counts"),
            ("counts", "language_counts"),
        ],
        success="the model was written",
        failure="training failed; one line says why and what to do",
    )


def _run_in_memory(argv: Sequence[str], stdout: TextIO, stderr: TextIO) -> int | None:
    """Run the command. If memory runs out while modules are loaded, the error says so."""
    from spmcompat.cli.process import perform
    from spmcompat.errors import (
        TrainingError,
        is_out_of_memory,
        out_of_memory,
    )

    try:
        return perform(command(), argv, stdout, stderr)
    except TrainingError:
        raise  # this may be an `OutOfMemoryError`, which already names the stage
    except (MemoryError, ImportError) as error:
        if not is_out_of_memory(error):
            raise
        raise out_of_memory("Starting", str(error)) from error


def _train(given: SimpleNamespace, _: TextIO, stderr: TextIO) -> None:
    from spmcompat.options.from_flags import from_command_line
    from spmcompat.options.job import make_job
    from spmcompat.runtime.progress import Report
    from spmcompat.training import run

    job = make_job(from_command_line(given.options))
    run(job, Report(job.min_log_level, stderr, job.progress))


def entry_point() -> None:
    """Run the console command."""
    start.run("spm_train", main)
