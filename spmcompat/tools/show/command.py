"""The command ``spmcompat show``."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TextIO

from spmcompat.cli.flags import Command, Flag, switch
from spmcompat.errors import printable


def command() -> Command:
    """Return the description of the command."""
    return Command(
        "spmcompat show",
        "Shows what a model contains: its type, pieces and normalization, the releases of "
        "sentencepiece that can have written it, and the command that trains a similar model. Of a "
        "tokenizer.json, its tokens, merges and steps, and the command. With --check, shows what "
        "is wrong with it instead.",
        "MODEL [flags]",
        _run,
        [
            switch(
                "check",
                "Look for faults before you train a language model with this tokenizer, such as "
                "pieces that no text uses. For each, print its name, what it means, what to do, "
                "and examples. MODEL may also be a tokenizer.json or a folder that contains one.",
            ),
            Flag(
                "text",
                "For --check: also look for characters of this text that the tokenizer lacks.",
                metavar="FILE",
                needs=["check"],
            ),
            switch(
                "strict",
                "For --check: exit with status 1 if there are faults. Notes do not count.",
                needs=["check"],
            ),
            switch("json", "Print JSON."),
        ],
        positionals=("one model is", 1, 1),
        failure="failure; one line says why and what to do; with --strict also if there are faults",
    )


def _run(given: SimpleNamespace, stdout: TextIO, _: TextIO) -> int:
    import json

    from spmcompat.tools.show.check import Check, check
    from spmcompat.tools.show.contents import show

    (path,) = given.arguments
    found = check(path, given.text) if given.check else show(path)
    if given.json:
        stdout.write(json.dumps({"model": path, **found.to_dict()}, indent=2) + "\n")
    else:
        stdout.write(f"{printable(path)}\n{found}\n")
    return int(given.strict and isinstance(found, Check) and bool(found.findings))
