"""The command ``spmcompat view``, and the function `view`."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, TextIO

from spmcompat.cli.flags import Command, Flag, from_python, switch
from spmcompat.engine import (
    CHOICE,
    SPACE_MARK,
    UINT64,
    as_list,
    has_colour,
    naming_keywords,
    split_csv,
)
from spmcompat.errors import UsageError
from spmcompat.runtime.libraries import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spmcompat.engine import StrPath
    from spmcompat.tools.view.result import View

_OUTPUT = "--output"


def command() -> Command:
    """Return the description of the command."""
    return Command(
        "spmcompat view",
        "Shows lines as the tokens into which models cut them. Neighbouring tokens have different "
        f"backgrounds. {SPACE_MARK} is a space. Unknown tokens are red and underlined, and grey "
        "tokens are bytes, or contain a part of a character. Without colours, a space separates "
        "two tokens, and an unknown token is written as <unk:TEXT>.",
        "MODEL[,MODEL...] {TEXT...|--text=FILE} [flags]",
        _run,
        [
            Flag("text", "A text in UTF-8, whose first lines are shown.", metavar="FILE"),
            Flag("lines", "With --text: the number of lines.", UINT64, default=10, least=1),
            switch("ids", "Show the id of each token."),
            Flag(
                "format",
                "What to write: text, an HTML page or JSON.",
                CHOICE,
                default="text",
                choices=("text", "html", "json"),
            ),
            Flag("output", "Where to write it, instead of standard output.", metavar="FILE"),
        ],
        positionals=("one list of models is", 1, None),
    )


def _run(given: SimpleNamespace, stdout: TextIO, _: TextIO) -> None:
    from spmcompat.cli.tables import page_of
    from spmcompat.runtime.outputs import check_output, refuse_inputs, write_files

    models, *texts = given.arguments
    paths = split_csv(models) or [models]
    if given.output:
        check_output(given.output, _OUTPUT)
        refuse_inputs([given.output], [*paths, *filter(None, [given.text])], _OUTPUT)
    found = _cut(paths, texts, given)
    if given.format == "html":
        content = page_of([found.totals()], "Tokens", found.html())
    elif given.format == "json":
        content = json.dumps(found.to_dict(), indent=2, ensure_ascii=False) + "\n"
    else:
        content = f"{found.text(colour=not given.output and has_colour(stdout))}\n"
    if given.output:
        write_files({given.output: [content.encode()]}, _OUTPUT)
    else:
        stdout.write(content)


def view(
    models: StrPath | Sequence[StrPath],
    *texts: str,
    text: StrPath | None = None,
    lines: int | None = None,
    ids: bool = False,
) -> View:
    """Cut lines into tokens with models.

    Needs ``pip install 'spmcompat[compare]'``.

    Parameters
    ----------
    models : path or sequence of paths
        ``.model`` files, ``tokenizer.json`` files, or folders that contain a ``tokenizer.json``.
    *texts : str
        The lines. Give either these or `text`.
    text : path
        A text in UTF-8, whose first lines are cut.
    lines : int
        With `text`: the number of lines, 10 by default.
    ids : bool
        Whether to show the id of each token.

    Returns
    -------
    View
        The tokens. A notebook shows them in colour.

    Raises
    ------
    TrainingError
        If an argument is wrong, a file cannot be read, or a library is missing.
    """
    with naming_keywords():
        values = {"text": text, "lines": lines, "ids": ids}
        given = from_python(command(), as_list("models", models), values)
        return _cut(given.arguments, as_list("texts", texts), given)


def _cut(paths: Sequence[str], texts: Sequence[str], given: SimpleNamespace) -> View:
    """Import what loads NumPy, and cut the lines."""
    if bool(texts) == bool(given.text):
        raise UsageError("Give either lines of text or --text=FILE. See spmcompat view --help.")
    require("numpy", "view", "")
    from spmcompat.tools.view.result import cut, read_lines

    lines = read_lines(given.text, given.lines) if given.text else texts
    return cut(paths, lines, ids=given.ids)
