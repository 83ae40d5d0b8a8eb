"""The command ``spmcompat show``."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, TextIO

from spmcompat.cli.flags import Command, switch

if TYPE_CHECKING:
    from spmcompat.tools.show.contents import Contents


def command() -> Command:
    """Return the description of the command."""
    return Command(
        "spmcompat show",
        "Shows what a model contains: its type, pieces and normalization, the releases of "
        "sentencepiece that can have written it, and the command that trains a similar model.",
        "MODEL [--json]",
        _run,
        [switch("json", "Print JSON.")],
        positionals=("one model is", 1, 1),
    )


def _run(given: SimpleNamespace, stdout: TextIO, _: TextIO) -> None:
    import json  # noqa: PLC0415

    from spmcompat.model.reading import read_model  # noqa: PLC0415
    from spmcompat.tools.show.contents import contents  # noqa: PLC0415

    (path,) = given.arguments
    found = contents(read_model(path))
    if given.json:
        stdout.write(json.dumps({"model": path, **found._asdict()}, indent=2) + "\n")
    else:
        stdout.writelines(f"{line}\n" for line in _lines(path, found))


def _lines(path: str, found: Contents) -> Iterator[str]:
    """Yield the lines of the report. Texts of the model are printable in it."""
    import shlex  # noqa: PLC0415

    from spmcompat.cli.table import table  # noqa: PLC0415
    from spmcompat.errors import printable  # noqa: PLC0415
    from spmcompat.normalization.charsmaps import OWN_NAMES  # noqa: PLC0415
    from spmcompat.releases import RELEASES  # noqa: PLC0415

    kinds = ", ".join(f"{count:,} {name}" for name, count in found.pieces.items())
    rules = printable(found.normalization) or "not stored"
    predefined = "" if found.is_predefined else ", not predefined rules"
    releases = f"none of the known releases of sentencepiece ({', '.join(RELEASES)})"
    if found.releases:
        releases = f"sentencepiece {', '.join(found.releases)}, or spmcompat"
    elif found.is_predefined and found.normalization in OWN_NAMES:
        releases = "spmcompat: sentencepiece does not have these rules, but applies them"
    rows = [
        ("type", found.model_type),
        ("size", f"{found.size:,} bytes"),
        ("pieces", f"{sum(found.pieces.values()):,}: {kinds}"),
        ("longest piece", f"{found.longest} characters"),
    ]
    if found.scores is not None:
        rows.append(("scores", f"{found.scores[0]:g} to {found.scores[1]:g}"))
    rows += [
        ("normalization", f"{rules}, {found.rules_bytes:,} bytes{predefined}"),
        ("written by", releases),
    ]
    yield from table(("model", printable(path)), rows, left=2)
    yield ""
    yield "To train a similar model on your text:"
    yield ""
    yield f"  {printable(' '.join(map(shlex.quote, found.command)))}"
    yield ""
    yield (
        "A model does not store pretokenizers and the options that only spmcompat has. Adapt the "
        "paths."
    )
