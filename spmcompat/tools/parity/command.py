"""The command ``spmcompat parity``."""

import json
from types import SimpleNamespace
from typing import TextIO

from spmcompat.cli.flags import Command, switch
from spmcompat.errors import BadValueError, UsageError

EQUAL, DIFFERENT = 0, 1


def command() -> Command:
    """Return the description of the command."""
    from spmcompat.engine import GROUPS

    return Command(
        "spmcompat parity",
        "Trains with the installed sentencepiece and with spmcompat, each in its own process. "
        "Compares their files, and shows the time and memory of both.\n\n"
        "spmcompat reproduces the installed release, unless --compat names another one. Both "
        'models store absolute paths of the input files, and "m" as the model prefix. The input '
        "must be files of plain text or TSV; other formats, patterns and standard input are not "
        "accepted.",
        "--input=FILE[,FILE...] [flags]",
        _run,
        [switch("json", "Write the whole result as JSON.")],
        GROUPS,
        required=[("input",)],
        success="the files are equal, byte for byte",
        failure="the files differ, a program fails, or an error prevents the comparison",
    )


def _run(given: SimpleNamespace, stdout: TextIO, stderr: TextIO) -> int:
    """Run the command, and return the exit status."""
    from spmcompat.tools.parity.check import compare_flags

    try:
        found = compare_flags(given.options, watch=lambda stage: stderr.write(f"{stage}...\n"))
    except BadValueError as error:
        raise UsageError.of(error) from error
    if given.json:
        stdout.write(json.dumps(found.to_dict()) + "\n")
    else:
        stdout.write(f"{found}\n")
    return EQUAL if found.equal else DIFFERENT
