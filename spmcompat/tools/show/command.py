"""The command ``spmcompat show``."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TextIO

from spmcompat.cli.flags import Command, switch
from spmcompat.errors import printable


def command() -> Command:
    """Return the description of the command."""
    return Command(
        "spmcompat show",
        "Shows what a model contains: its type, pieces and normalization, the releases of "
        "sentencepiece that can have written it, and the command that trains a similar model. Of a "
        "tokenizer.json, its tokens, merges and steps, and the command.",
        "MODEL [--json]",
        _run,
        [switch("json", "Print JSON.")],
        positionals=("one model is", 1, 1),
    )


def _run(given: SimpleNamespace, stdout: TextIO, _: TextIO) -> None:
    import json

    from spmcompat.tools.show.contents import show

    (path,) = given.arguments
    found = show(path)
    if given.json:
        stdout.write(json.dumps({"model": path, **found.to_dict()}, indent=2) + "\n")
    else:
        stdout.write(f"{printable(path)}\n{found}\n")
