"""Finds the contents of a tokenizer.json."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from spmcompat.cli.plain import plain_fields
from spmcompat.cli.tables import Table, html_of, table
from spmcompat.errors import printable
from spmcompat.tools.diff.contents import NORMAL
from spmcompat.tools.diff.documents import TokenizerContents

_PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
_TRAINED = ("BPE", "WordPiece")  # the types of models that train_tokenizer trains
_SHOWN = 8  # the number of added tokens in a report


class TokenizerOverview(NamedTuple):
    """The contents of a tokenizer.json.

    Attributes
    ----------
    model_type : str
        The type of the model, such as ``BPE``.
    size : int
        The size of the file in bytes.
    pieces : dict of str to int
        The number of tokens of each type: normal, added, or special.
    merges : int
        The number of merges.
    longest : int
        The number of characters of the longest normal token.
    added : list of str
        The added and special tokens, by id.
    steps : dict of str to list of str
        The types of the steps of the normalizer, the pre-tokenizer, the post-processor and the
        decoder.
    command : list of str
        The command that trains a similar tokenizer; empty if there is none for this type of model.
    """

    model_type: str
    size: int
    pieces: dict[str, int]
    merges: int
    longest: int
    added: list[str]
    steps: dict[str, list[str]]
    command: list[str]

    def to_dict(self) -> dict[str, object]:
        """Return the fields as data that JSON can represent."""
        return plain_fields(self)

    def rows(self) -> list[tuple[str, str]]:
        """Return the most important facts as the rows of a table."""
        kinds = ", ".join(f"{count:,} {name}" for name, count in self.pieces.items())
        added = ", ".join(map(repr, self.added[:_SHOWN]))
        more = len(self.added) - _SHOWN
        return [
            ("type", self.model_type),
            ("size", f"{self.size:,} bytes"),
            ("tokens", f"{sum(self.pieces.values()):,}: {kinds}"),
            ("merges", f"{self.merges:,}"),
            ("longest token", f"{self.longest} characters"),
            ("added tokens", f"{added or 'none'}{f' and {more:,} more' if more > 0 else ''}"),
            *((part, ", ".join(types) or "none") for part, types in self.steps.items()),
        ]

    def __repr__(self) -> str:
        """Return a summary: the type of the model and the number of its tokens."""
        return f"<TokenizerOverview: {self.model_type}, {sum(self.pieces.values()):,} tokens>"

    def __str__(self) -> str:
        """Return the report, as the command prints it. All texts from the file are printable."""
        rows = [(name, printable(value)) for name, value in self.rows()]
        lines = [*table(rows[0], rows[1:], left=2)]
        if self.command:
            command = printable(shlex.join(self.command))
            lines += ["", "To train a similar tokenizer on your text:", "", f"  {command}"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        return html_of(Table(("", ""), [*self.rows(), ("command", shlex.join(self.command))], 2))


def overview(read: TokenizerContents, path: str) -> TokenizerOverview:
    """Return an overview of a tokenizer.json. The command names its path."""
    tokens = [*read.tokens.values()]
    command = ["spmcompat", "train_tokenizer", f"--like={path}", "--input=YOUR_TEXT"]
    command += [f"--vocab_size={len(tokens)}", "--output=OUTPUT"]
    return TokenizerOverview(
        model_type=read.type,
        size=len(read.content),
        pieces=dict(Counter(one.type.lower() for one in tokens)),
        merges=len(read.merges),
        longest=max((len(one.piece) for one in tokens if one.type == NORMAL), default=0),
        added=[one.piece for one in tokens if one.type != NORMAL],
        steps={part: _types(part, read.fields) for part in _PARTS},
        command=command if read.type in _TRAINED else [],
    )


def _types(part: str, fields: Mapping[str, object]) -> list[str]:
    return [
        str(value)
        for path, value in fields.items()
        if path.startswith(f"{part}.") and path.endswith(".type") and value != "Sequence"
    ]
