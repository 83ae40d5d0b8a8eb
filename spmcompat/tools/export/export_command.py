"""The command ``spmcompat export``."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, TextIO

from spmcompat.cli.flags import Command, Flag
from spmcompat.engine import BOOL, CHOICE, UINT64, fitted
from spmcompat.errors import ConflictError, UsageError, printable

if TYPE_CHECKING:
    from spmcompat.tools.export.verifying import Verification

EQUAL, DIFFERENT = 0, 1
SHOWN = 5


def command() -> Command:
    """Return the description of the command."""
    from spmcompat.tools.export.targets import NEVER_VERIFIED, TARGETS
    from spmcompat.tools.export.verifying import MODES

    return Command(
        "spmcompat export",
        "Writes a model in the format of another library, and verifies that this library and "
        "sentencepiece encode text alike. The command first lists the features that the target "
        "cannot express exactly.",
        "m.model --to=TARGET --output=PATH [flags]",
        _run,
        [
            Flag("to", "The target.", CHOICE, choices=tuple(TARGETS), metavar="TARGET"),
            Flag(
                "output",
                "The file to write, or the folder if the target is a folder.",
                metavar="PATH",
            ),
            Flag(
                "verify",
                "Whether lines are encoded with sentencepiece and with the library of the target, "
                "to compare the results. required: nothing is written if they cannot be compared, "
                "for example because a library is missing. if_possible: the export is written in "
                "any case. The default is required, and if_possible for "
                f"{NEVER_VERIFIED}, with which no library can encode.",
                CHOICE,
                choices=MODES,
            ),
            Flag(
                "text",
                "Text in UTF-8 whose lines are compared. By default, these are built-in lines "
                "that exports are known to get wrong.",
                metavar="FILE",
            ),
            Flag(
                "bos_token", "For hf-folder: the control piece that begins a text.", metavar="PIECE"
            ),
            Flag(
                "eos_token", "For hf-folder: the control piece that ends a text.", metavar="PIECE"
            ),
            Flag(
                "pad_token", "For hf-folder: the control piece that pads a text.", metavar="PIECE"
            ),
            Flag(
                "model_max_length",
                "For hf-folder: the largest number of tokens of a text.",
                UINT64,
                least=1,
            ),
            Flag(
                "split_special_tokens",
                "For hf-folder: treat the text of control symbols such as <|im_start|> as plain "
                "text, as sentencepiece does. This is the default unless --chat_template is given; "
                "chat templates need --split_special_tokens=false.",
                BOOL,
            ),
            Flag(
                "chat_template",
                "For hf-folder: a file with a chat template, to be stored in the folder.",
                metavar="FILE",
            ),
        ],
        required=[("to",), ("output",)],
        positionals=("one model is", 1, 1),
        success="the export is written, and all lines are encoded alike or differ only by ties, or "
        "verification was not required",
        failure="there is no verified export: lines differ for another reason (the export is "
        "written), or the model cannot be exported or verified (nothing is written)",
    )


def _run(given: SimpleNamespace, stdout: TextIO, stderr: TextIO) -> int:
    from spmcompat.model.reading import read_model
    from spmcompat.tools.export.exporting import export
    from spmcompat.tools.export.hf_folder import FolderOptions

    (path,) = given.arguments
    try:
        found = export(
            read_model(path),
            given.to,
            given.output,
            given.text or None,
            lambda line: print(fitted(f"note: {printable(line)}", stderr), file=stderr),
            [path],
            verifying=given.verify,
            folder=FolderOptions(*(getattr(given, name) for name in FolderOptions._fields)),
        )
    except ConflictError as error:
        raise UsageError(str(error)) from error
    stdout.writelines(f"{printable(line)}\n" for line in report_lines(given, found))
    return EQUAL if found.problem or found.ok else DIFFERENT


def report_lines(given: SimpleNamespace, found: "Verification") -> Iterator[str]:
    """Yield the report, line by line."""
    from spmcompat.tools.export.causes import CAUSES

    yield f"written: {given.output}"
    if found.problem:
        yield found.problem
        return
    source = given.text or "the built-in lines"
    compared = f"{found.lines:,} lines of {source}, {given.to} against sentencepiece"
    yield f"verified: {compared}: {found.different:,} differ"
    for cause, meaning in CAUSES.items():
        if cause in found.causes:
            yield f"  {found.causes[cause]:,} by {cause}: {meaning}"
    for one in found.differences[:SHOWN]:
        yield f"  {one.cause}: {one.line!r}"
        yield f"    sentencepiece {' '.join(one.expected)}"
        yield f"    the export    {' '.join(one.actual)}"
