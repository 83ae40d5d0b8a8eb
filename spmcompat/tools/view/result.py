"""Lines that models cut into tokens."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from spmcompat.cli.plain import plain_fields
from spmcompat.cli.tables import Table, html_of, table
from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate.models import Token, load_model
from spmcompat.tools.evaluate.texts import lines_of_path
from spmcompat.tools.view.html import html_of_lines
from spmcompat.tools.view.terminal import rows_of_tokens, title_of


class View(NamedTuple):
    """Lines that models cut into tokens.

    Attributes
    ----------
    models : tuple of str
        The names of the models.
    lines : tuple of str
        The lines.
    tokens : tuple of tuple of tuple of Token
        For each line and each model, the tokens: the `id` of each, its `text`, and its `kind`,
        which is ``unknown``, ``byte`` or empty.
    ids : bool
        Whether the view shows ids.
    """

    models: tuple[str, ...]
    lines: tuple[str, ...]
    tokens: tuple[tuple[tuple[Token, ...], ...], ...]
    ids: bool = False

    def to_dict(self) -> dict[str, object]:
        """Return the fields as data that JSON can represent."""
        return plain_fields(self)

    def totals(self) -> Table:
        """Return a table of the numbers of tokens in all lines."""
        rows = []
        for i, name in enumerate(self.models):
            kinds = [token.kind for line in self.tokens for token in line[i]]
            counts = (len(kinds), kinds.count("unknown"), kinds.count("byte"))
            rows.append((name, *(f"{count:,}" for count in counts)))
        return Table(("model", "tokens", "unknown", "bytes"), rows, 1)

    def text(self, *, colour: bool = False) -> str:
        """Return the view as lines that fit the terminal."""
        shown = []
        for number, line in enumerate(self.tokens, 1):
            shown += [f"line {number}"]
            for name, tokens in zip(self.models, line, strict=True):
                shown += [f"  {title_of(name, tokens)}"]
                shown += rows_of_tokens(tokens, ids=self.ids, colour=colour)
            shown += [""]
        totals = self.totals()
        return "\n".join([*shown, *table(totals.head, totals.rows, left=totals.left)])

    def html(self) -> str:
        """Return the lines as HTML."""
        return html_of_lines(self.models, self.tokens, ids=self.ids)

    def __repr__(self) -> str:
        """Return a summary: the numbers of lines and models."""
        return f"<View: {len(self.lines):,} lines, {len(self.models):,} models>"

    def __str__(self) -> str:
        """Return the view without colours."""
        return self.text()

    def _repr_html_(self) -> str:
        """Return the view for a notebook."""
        return self.html() + html_of(self.totals())


def cut(paths: Sequence[str], lines: Sequence[str], *, ids: bool = False) -> View:
    """Cut lines into tokens.

    Parameters
    ----------
    paths : sequence of str
        The models.
    lines : sequence of str
        The lines. A lone surrogate, for which UTF-8 has no bytes, becomes U+FFFD.
    ids : bool
        Whether to show ids.

    Raises
    ------
    TrainingError
        If a model cannot be read, or a library is missing.
    """
    lines = [line.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for line in lines]
    tokens = [load_model(path, Workers(1)).tokens(lines) for path in paths]
    by_line = zip(*(map(tuple, of_model) for of_model in tokens), strict=True)
    return View(tuple(paths), tuple(lines), tuple(by_line), ids)


def read_lines(path: str, most: int) -> list[str]:
    """Return the first lines of a text. Bytes that are not UTF-8 become U+FFFD.

    Raises
    ------
    TrainingError
        If the text cannot be read, or has a line that is too long.
    """
    lines = islice(lines_of_path(path), most)
    return [line.removesuffix(b"\n").decode(errors="replace") for line in lines]
