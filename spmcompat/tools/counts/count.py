"""The command ``spmcompat count``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TextIO

from spmcompat.cli.flags import UsageError, read_flags
from spmcompat.cli.process import OK, run_command
from spmcompat.errors import BadValueError, UnknownOptionError

_USAGE = """\
usage: spmcompat count --input=FILE,FILE --output=FILE [flags]

Counts a text and writes the counts to a Parquet file. Any number of models can be trained from it:

  spm_train --counts=FILE --model_prefix=m --vocab_size=8000

The flags are those of spm_train for reading and normalizing. They are stored with the counts, and
training takes them from there:

"""
_OTHER_FLAGS = ("model_type", "workers", "minloglevel")


def main(argv: Sequence[str], stdout: TextIO | None = None, stderr: TextIO | None = None) -> int:
    """Run ``spmcompat count`` and return its exit status."""
    out = sys.stdout if stdout is None else stdout
    err = sys.stderr if stderr is None else stderr
    return run_command("spmcompat count", lambda: _run(argv, out, err), err)


def _run(argv: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    from spmcompat.counts import count_text  # noqa: PLC0415
    from spmcompat.options.checks import input_files  # noqa: PLC0415
    from spmcompat.options.from_counts import OPTIONS_OF_COUNTING  # noqa: PLC0415
    from spmcompat.options.from_flags import from_flags  # noqa: PLC0415
    from spmcompat.options.help import help_of  # noqa: PLC0415
    from spmcompat.options.option import BOOL  # noqa: PLC0415
    from spmcompat.options.table import OPTIONS  # noqa: PLC0415
    from spmcompat.runtime.outputs import check_output, refuse_inputs  # noqa: PLC0415
    from spmcompat.runtime.progress import Report  # noqa: PLC0415
    from spmcompat.stored_counts.table import write  # noqa: PLC0415

    names = [name for name in (*OPTIONS_OF_COUNTING, *_OTHER_FLAGS) if OPTIONS[name].flag]
    switches = {name for name in names if OPTIONS[name].kind == BOOL}
    flags, rest = read_flags(argv, {*switches, "help", "quiet"}, {*names, "output"})
    if flags.pop("help", "false") != "false":
        stdout.write(_USAGE + help_of([OPTIONS[name] for name in names]))
        return OK
    for name in ("input", "output"):
        if not flags.get(name):
            raise UsageError(f"--{name} is missing. See --help.")
    if rest:
        raise UsageError(f"unexpected {rest[0]!r}. Flags begin with two dashes.")
    output = flags.pop("output")
    quiet = flags.pop("quiet", "false") != "false"
    try:
        settings = from_flags(flags)
    except (BadValueError, UnknownOptionError) as error:
        raise UsageError(str(error)) from error
    check_output(output, "--output")
    refuse_inputs([output], input_files(settings), "--output")
    report = Report(2 if quiet else settings.min_log_level, stderr)
    origin, batches = count_text(flags, settings, None, report)
    report.step("Writing")
    write(output, lambda: origin, batches)
    size = os.stat(output).st_size / 1e6
    report.info(f"Saved {output}: the counts of {origin.sentences:,} sentences, {size:.1f} MB")
    return OK
