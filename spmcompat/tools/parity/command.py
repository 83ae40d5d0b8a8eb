"""The command ``spmcompat parity``."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, TextIO

from spmcompat.cli.flags import Command, UsageError, switch
from spmcompat.errors import BadValueError

if TYPE_CHECKING:
    from spmcompat.tools.parity.check import Parity, Side

EQUAL, DIFFERENT = 0, 1


def command() -> Command:
    """Return the description of the command."""
    from spmcompat.options.table import GROUPS  # noqa: PLC0415

    return Command(
        "spmcompat parity",
        "Trains with the installed sentencepiece and with spmcompat, each in its own process. "
        "Compares their files, and shows the time and memory of both.\n\n"
        "spmcompat reproduces the installed release, unless --compat names another one. Both "
        'models store absolute paths of the input files, and "m" as the model prefix.',
        "--input=FILE[,FILE...] [flags]",
        _run,
        [switch("json", "Write the whole result as JSON.")],
        GROUPS,
        required=[("input",)],
        success="the files are equal, byte for byte, or both programs fail",
        failure="the files differ, or an error prevents the comparison",
    )


def _run(given: SimpleNamespace, stdout: TextIO, stderr: TextIO) -> int:
    """Run the command, and return the exit status."""
    from spmcompat.tools.parity.check import from_flags  # noqa: PLC0415

    try:
        found = from_flags(given.options, watch=lambda stage: stderr.write(f"{stage}...\n"))
    except BadValueError as error:
        raise UsageError(str(error)) from error
    if given.json:
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
