"""The command ``spmcompat diff``."""

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, TextIO

from spmcompat.cli.flags import Command, Flag, switch
from spmcompat.cli.process import USAGE
from spmcompat.errors import UsageError, printable
from spmcompat.tools.evaluate.command import AFFIXES

if TYPE_CHECKING:
    from spmcompat.tools.diff.result import Vocabularies

EQUAL, DIFFERENT = 0, 1


def command() -> Command:
    """Return the description of the command."""
    from spmcompat.tools.diff.report import SHOWN

    return Command(
        "spmcompat diff",
        "Reports whether two models are equal, and lists their differences. The models are two "
        ".model files, or two tokenizer.json files or folders that contain one.",
        "LEFT RIGHT [flags]\n       spmcompat diff --since=COMMIT FILE... [flags]",
        _run,
        [
            AFFIXES,
            Flag(
                "text",
                "Say which words of this text, in UTF-8, are cut differently.",
                metavar="FILE",
            ),
            Flag(
                "since",
                "Compare each file with its version in this commit of git, such as HEAD. Then any "
                "number of files can be given, and the exit status is 0 even if they differ.",
                metavar="COMMIT",
            ),
            switch("json", "Write all differences as JSON."),
            switch("all", f"Show complete lists, not only the first {SHOWN} entries of each."),
        ],
        positionals=("two models are", 1, None),
        success="the files are equal, byte for byte",
        failure="the files differ",
        wrong="a file cannot be read or is not a model, or the command line is wrong",
        error=USAGE,
    )


def _run(given: SimpleNamespace, stdout: TextIO, _: TextIO) -> int:
    """Run the command, and return the exit status."""
    if given.since:
        for path in given.arguments:
            _compare_since(path, given, stdout)
        return EQUAL
    if len(given.arguments) != 2:
        raise UsageError(f"two models are needed, not {len(given.arguments)}. See --help.")
    left, right = given.arguments
    return _compare(left, right, given, stdout)


def _compare_since(path: str, given: SimpleNamespace, stdout: TextIO) -> None:
    """Compare a file with its version in a commit."""
    from spmcompat.tools.diff.committed import committed

    with committed(path, given.since) as before:
        if before is None:
            stdout.write(f"{printable(path)}: new since {printable(given.since)}\n")
        else:
            _compare(before, path, given, stdout)


def _compare(left: str, right: str, given: SimpleNamespace, stdout: TextIO) -> int:
    """Print the differences between two files, and return the exit status."""
    from spmcompat.tools.diff.difference import diff
    from spmcompat.tools.diff.report import SHOWN, report_lines

    found = diff(left, right, affixes=given.affixes, text=given.text)
    if given.since:
        left = f"{right} of {given.since}"
    if given.json:
        stdout.write(json.dumps({"left": left, "right": right, **found.to_dict()}) + "\n")
    else:
        kind = "pieces" if found.merges is None else "tokens"
        pieces = found.pieces
        for side, path, size, count in (
            ("left ", left, found.left_bytes, pieces.left_count),
            ("right", right, found.right_bytes, pieces.right_count),
        ):
            stdout.write(f"{side}  {path}: {size:,} bytes, {count:,} {kind}\n")
        limit = None if given.all else SHOWN
        stdout.writelines(f"{line}\n" for line in report_lines(found, limit=limit))
        if given.affixes or pieces.only_left or pieces.only_right:
            stdout.writelines(f"{line}\n" for line in _vocabulary_lines(found.vocabularies))
    return EQUAL if found.equal else DIFFERENT


def _vocabulary_lines(texts: "Vocabularies") -> Iterator[str]:
    """Yield the lines that compare the texts of the pieces, without their space marks."""
    from spmcompat.cli.tables import table
    from spmcompat.tools.diff.report import NAMES

    yield ""
    yield "vocabulary: the text of a piece does not include its space marks"
    yield from table(("", *NAMES), texts.rows(), left=1)
