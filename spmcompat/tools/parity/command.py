"""The command ``spmcompat parity``."""

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from spmcompat.cli.flags import UsageError, read_training_flags
from spmcompat.cli.process import run_command
from spmcompat.errors import BadValueError

if TYPE_CHECKING:
    from spmcompat.tools.parity.check import Parity, Side

EQUAL, DIFFERENT = 0, 1

HELP = """\
Trains with the installed sentencepiece and with spmcompat, each in its own process. Compares their
files, and shows the time and memory of both.

usage: spmcompat parity --input=FILE[,FILE...] [flags of spm_train] [--json]

  --json  Write the whole result as JSON.
  --help  Show this text. spm_train --help lists the flags of spm_train.

spmcompat reproduces the installed release, unless --compat names another one. Both models store
absolute paths of the input files, and "m" as the model prefix.
Exits with 0 if the files are equal byte for byte or both sides fail, with 1 if they differ or an
input cannot be read, and with 2 after a wrong command line.
"""


def main(argv: Sequence[str], stdout: TextIO | None = None, stderr: TextIO | None = None) -> int:
    """Run ``spmcompat parity``.

    Parameters
    ----------
    argv : sequence of str
        The arguments after the name of the command.
    stdout, stderr : text stream, optional
        Where to write the result and the messages.

    Returns
    -------
    int
        0 for equal files or two failed trainings; 1 for a difference or an error; 2 for a wrong
        command line; 130 after Ctrl-C.
    """
    out = sys.stdout if stdout is None else stdout
    err = sys.stderr if stderr is None else stderr
    return run_command("spmcompat parity", lambda: _run(argv, out, err), err)


def _run(argv: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    """Run the command, and return the exit status."""
    flags, rest = read_training_flags(argv, ("json",))
    if any(flags.get(name, "false") != "false" for name in ("help", "version")):
        stdout.write(HELP)
        return EQUAL
    if rest:
        raise UsageError(f"{rest[0]!r} is not a flag. Flags begin with two dashes.")
    if not flags.get("input"):
        raise UsageError("--input is missing. See --help.")
    wants_json = flags.pop("json", "false") != "false"

    from spmcompat.tools.parity.check import from_flags  # noqa: PLC0415

    try:
        found = from_flags(flags, watch=lambda stage: stderr.write(f"{stage}...\n"))
    except BadValueError as error:
        raise UsageError(str(error)) from error
    if wants_json:
        from spmcompat.tools.diff.command import as_json  # noqa: PLC0415

        stdout.write(as_json(_facts(found)))
    else:
        stdout.writelines(f"{line}\n" for line in report_lines(found))
    return EQUAL if found.equal or found.both_fail else DIFFERENT


def report_lines(found: "Parity") -> Iterator[str]:
    """Yield the report, line by line."""
    from spmcompat.cli.table import table  # noqa: PLC0415

    sides = (found.reference, found.ours)
    rows = [
        ("time", *(f"{side.process.seconds:.2f} s" for side in sides)),
        ("CPU time", *(f"{side.process.cpu_seconds:.2f} s" for side in sides)),
        ("memory", *(f"{side.process.peak_kib / 1024:,.0f} MiB" for side in sides)),
        (".model", *(_size(side.model) for side in sides)),
        (".vocab", *(_size(side.vocab) for side in sides)),
    ]
    yield from table(("", *(f"{side.name} {side.version}" for side in sides)), rows)
    yield ""
    yield from found.notes
    if found.equal:
        yield "equal, byte for byte"
    elif found.both_fail:
        yield "both fail:"
    else:
        yield "DIFFERENT"
    for side in sides:
        if side.failure:
            yield f"  {side.name}: {side.failure}"
    yield from _differences(found.reference, found.ours)


def _size(data: bytes | None) -> str:
    return "-" if data is None else f"{len(data):,} bytes"


def _differences(reference: "Side", ours: "Side") -> Iterator[str]:
    """Yield the differences between the files."""
    from spmcompat.tools.diff import command as diff  # noqa: PLC0415
    from spmcompat.tools.diff.difference import compare, first_difference  # noqa: PLC0415

    names = (reference.name, ours.name)
    if reference.model != ours.model and reference.model and ours.model:
        yield ".model:"
        yield from diff.report_lines(compare(reference.model, ours.model), names)
    if reference.vocab != ours.vocab and reference.vocab and ours.vocab:
        lines = reference.vocab.splitlines(), ours.vocab.splitlines()
        i = first_difference(*lines) or 0
        shown = [repr(file[i]) if i < len(file) else "missing" for file in lines]
        yield f".vocab: line {i + 1:,} is {shown[0]} and {shown[1]}"


def _facts(found: "Parity") -> dict[str, object]:
    """Return the whole result by name."""
    from spmcompat.tools.diff import command as diff  # noqa: PLC0415
    from spmcompat.tools.diff.difference import compare  # noqa: PLC0415

    models = [side.model for side in (found.reference, found.ours) if side.model]
    return {
        "equal": found.equal,
        "both_fail": found.both_fail,
        "compat": found.compat,
        "notes": found.notes,
        "reference": _side_facts(found.reference),
        "ours": _side_facts(found.ours),
        "difference": diff.plain(compare(*models)) if len(models) == 2 else None,
    }


def _side_facts(side: "Side") -> dict[str, object]:
    return {
        "name": side.name,
        "version": side.version,
        "failure": side.failure,
        "seconds": side.process.seconds,
        "cpu_seconds": side.process.cpu_seconds,
        "peak_kib": side.process.peak_kib,
        "model_bytes": None if side.model is None else len(side.model),
        "vocab_bytes": None if side.vocab is None else len(side.vocab),
    }
