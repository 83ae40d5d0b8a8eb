"""The command ``spmcompat import``."""

import sys
from collections.abc import Sequence
from typing import TextIO

from spmcompat.cli.flags import UsageError, read_flags
from spmcompat.cli.process import run_command

HELP = """\
Converts a tokenizer.json to a model, if the model can encode exactly as the file does.

usage: spmcompat import --output=m.model tokenizer.json

  --output  The model to write.
  --help    Show this text.

If a model cannot do exactly what the file defines, nothing is written, and the error names the part
of the file. Exits with 0 if the model is written, 1 if it is not, and 2 after a wrong command line.
"""


def main(argv: Sequence[str], stdout: TextIO | None = None, stderr: TextIO | None = None) -> int:
    """Run ``spmcompat import`` and return its exit status."""
    out = sys.stdout if stdout is None else stdout
    err = sys.stderr if stderr is None else stderr
    return run_command("spmcompat import", lambda: _run(argv, out, err), err)


def _run(argv: Sequence[str], stdout: TextIO, stderr: TextIO) -> None:
    flags, paths = read_flags(argv, ("help",), ("output",))
    if flags.get("help", "false") != "false":
        stdout.write(HELP)
        return
    if not flags.get("output"):
        raise UsageError("--output is missing. See --help.")
    if len(paths) != 1:
        raise UsageError(f"one tokenizer.json is needed, not {len(paths)}. See --help.")
    from spmcompat.tools.export.exporting import import_file  # noqa: PLC0415

    import_file(paths[0], flags["output"], lambda line: print(f"note: {line}", file=stderr))
    stdout.write(f"written: {flags['output']}\n")
