"""The command ``spmcompat diff``."""

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, TextIO

from spmcompat.cli.flags import Command, switch
from spmcompat.cli.process import USAGE
from spmcompat.tools.evaluate.command import AFFIXES

if TYPE_CHECKING:
    from spmcompat.tools.diff.result import Vocabularies

EQUAL, DIFFERENT = 0, 1


def command() -> Command:
    """Return the description of the command."""
    from spmcompat.tools.diff.report import SHOWN

    return Command(
        "spmcompat diff",
        "Reports whether two models are equal, and lists their differences.",
        "LEFT.model RIGHT.model [flags]",
        _run,
        [
            AFFIXES,
            switch("json", "Write all differences as JSON."),
            switch("all", f"Show complete lists, not only the first {SHOWN} entries of each."),
        ],
        positionals=("two models are", 2, 2),
        success="the files are equal, byte for byte",
        failure="the files differ",
        wrong="a file cannot be read or is not a model, or the command line is wrong",
        error=USAGE,
    )


def _run(given: SimpleNamespace, stdout: TextIO, _: TextIO) -> int:
    """Run the command, and return the exit status."""
    from spmcompat.tools.diff.difference import diff
    from spmcompat.tools.diff.report import SHOWN, report_lines

    left, right = given.arguments
    found = diff(left, right, affixes=given.affixes)
    if given.json:
        stdout.write(json.dumps({"left": left, "right": right, **found.to_dict()}) + "\n")
    else:
        stdout.write(f"left   {left}: {_size(found.left_bytes, found.pieces.left_count)}\n")
        stdout.write(f"right  {right}: {_size(found.right_bytes, found.pieces.right_count)}\n")
        limit = None if given.all else SHOWN
        stdout.writelines(f"{line}\n" for line in report_lines(found, limit=limit))
        if given.affixes or found.pieces.only_left or found.pieces.only_right:
            stdout.writelines(f"{line}\n" for line in _vocabulary_lines(found.vocabularies))
    return EQUAL if found.equal else DIFFERENT


def _vocabulary_lines(texts: "Vocabularies") -> Iterator[str]:
    """Yield the lines that compare the texts of the pieces, without their space marks."""
    from spmcompat.cli.tables import table
    from spmcompat.tools.diff.report import NAMES

    yield ""
    yield "vocabulary: the text of a piece does not include its space marks"
    yield from table(("", *NAMES), texts.rows(), left=1)


def _size(size: int, pieces: int) -> str:
    return f"{size:,} bytes, {pieces:,} pieces"
