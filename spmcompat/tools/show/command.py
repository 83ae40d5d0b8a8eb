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

    from spmcompat.tools.show.contents import show  # noqa: PLC0415

    (path,) = given.arguments
    found = show(path)
    if given.json:
        stdout.write(json.dumps({"model": path, **found.to_dict()}, indent=2) + "\n")
    else:
        stdout.writelines(f"{line}\n" for line in _lines(path, found))


def _lines(path: str, found: Contents) -> Iterator[str]:
    """Yield the lines of the report, in which all texts from the model are printable."""
    import shlex  # noqa: PLC0415

    from spmcompat.cli.table import table  # noqa: PLC0415
    from spmcompat.errors import printable  # noqa: PLC0415

    rows = [(name, printable(text)) for name, text in found.rows()]
    yield from table(("model", printable(path)), rows, left=2)
    yield ""
    yield "To train a similar model on your text:"
    yield ""
    yield f"  {printable(' '.join(map(shlex.quote, found.command)))}"
    yield ""
    yield (
        "A model stores neither pretokenizers nor the options that only spmcompat has. Adapt the "
        "paths."
    )
