"""The command ``spmcompat export``."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from spmcompat.cli.flags import UsageError, read_flags
from spmcompat.cli.process import run_command

if TYPE_CHECKING:
    from spmcompat.tools.export.verifying import Verification

EQUAL, DIFFERENT = 0, 1
SHOWN = 5

HELP = """\
Writes a model in the format of another library, and verifies that both encode text alike.

usage: spmcompat export --to=TARGET --output=PATH [--verify=FILE] m.model

  --to         The target: {targets}.
  --output     The file to write, or the folder if the target is a folder.
  --verify     Text in UTF-8. Each of its lines is encoded with sentencepiece and with the library
               of the target. By default these are built-in lines that exports are known to get
               wrong.
  --no_verify  Skip the verification.
  --find_control_symbols
               For hf-folder: find control symbols such as <|im_start|> in a text, as chat templates
               need. By default their text is plain text, as it is for sentencepiece.
  --help       Show this text.

The command first prints what the target cannot express exactly. The exit status is 0 if all lines
are encoded alike, differ only by ties, or were not verified. It is 1 if lines differ for another
reason (the export is written) or the model cannot be exported (nothing is written), and 2 after a
wrong command line.
"""


def main(argv: Sequence[str], stdout: TextIO | None = None, stderr: TextIO | None = None) -> int:
    """Run ``spmcompat export`` and return its exit status."""
    out = sys.stdout if stdout is None else stdout
    err = sys.stderr if stderr is None else stderr
    return run_command("spmcompat export", lambda: _run(argv, out, err), err)


def _run(argv: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    from spmcompat.model.reading import read_model  # noqa: PLC0415
    from spmcompat.tools.export.exporting import export, lines_of  # noqa: PLC0415
    from spmcompat.tools.export.targets import TARGETS  # noqa: PLC0415

    flags, paths = read_flags(
        argv, ("no_verify", "find_control_symbols", "help"), ("to", "output", "verify")
    )
    asked = {name for name, value in flags.items() if value != "false"}
    if "help" in asked:
        stdout.write(HELP.format(targets=", ".join(TARGETS)))
        return EQUAL
    for name in ("to", "output"):
        if not flags.get(name):
            raise UsageError(f"--{name} is missing. See --help.")
    if flags["to"] not in TARGETS:
        raise UsageError(f"--to must be one of {', '.join(TARGETS)}, not {flags['to']!r}.")
    if len(paths) != 1:
        raise UsageError(f"one model is needed, not {len(paths)}. See --help.")
    if "verify" in flags and "no_verify" in asked:
        raise UsageError("--verify and --no_verify exclude each other. Give one of them.")

    found_symbols = "find_control_symbols" in asked
    model = read_model(paths[0])
    verify: str | bool = "no_verify" not in asked
    lines = lines_of(model, flags.get("verify", verify))
    found = export(
        model,
        flags["to"],
        flags["output"],
        lines,
        lambda line: print(f"note: {line}", file=stderr),
        [paths[0], *filter(None, [flags.get("verify")])],
        find_control_symbols=found_symbols,
    )
    source = flags.get("verify", "the built-in lines")
    stdout.writelines(f"{line}\n" for line in report_lines(flags, source, found))
    return EQUAL if found is None or found.ok else DIFFERENT


def report_lines(
    flags: Mapping[str, str], source: str, found: "Verification | None"
) -> Iterator[str]:
    """Yield the report, line by line."""
    from spmcompat.tools.export.causes import CAUSES  # noqa: PLC0415

    yield f"written: {flags['output']}"
    if found is None:
        return
    if found.problem:
        yield found.problem
        return
    compared = f"{found.lines:,} lines of {source}, {flags['to']} against sentencepiece"
    yield f"verified: {compared}: {found.different:,} differ"
    for cause, meaning in CAUSES.items():
        if cause in found.causes:
            yield f"  {found.causes[cause]:,} by {cause}: {meaning}"
    for one in found.differences[:SHOWN]:
        yield f"  {one.cause}: {one.line!r}"
        yield f"    sentencepiece {' '.join(one.expected)}"
        yield f"    the export    {' '.join(one.actual)}"
