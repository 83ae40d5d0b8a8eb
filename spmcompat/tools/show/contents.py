"""Finds the contents of a model, its stored options, and the releases that can have written it."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from spmcompat.cli.plain import plain_fields
from spmcompat.cli.tables import Table, html_of, table
from spmcompat.engine import OWN_NAMES, RELEASES, command_of, possible_writers, shortest
from spmcompat.errors import printable
from spmcompat.model.pieces import NORMAL, model_type_of, type_name
from spmcompat.model.reading import read_for_editing
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.tools.diff.documents import document_of
from spmcompat.tools.show.tokenizers import TokenizerOverview, overview

if TYPE_CHECKING:
    from spmcompat.engine import StrPath


class Contents(NamedTuple):
    """The contents of a model.

    Attributes
    ----------
    model_type : str
        ``unigram``, ``bpe``, ``word`` or ``char``.
    size : int
        The size of the model in bytes.
    pieces : dict of str to int
        The number of pieces of each type.
    scores : (float, float) or None
        The lowest and the highest score of the normal pieces; None if there are none.
    longest : int
        The number of characters of the longest normal piece, including space marks.
    normalization : str
        The name of the normalization rules.
    rules_bytes : int
        The size of the compiled rules.
    is_predefined : bool
        Whether spmcompat or a release of ``sentencepiece`` has exactly these rules under this name.
    releases : list of str
        The known releases of ``sentencepiece`` that can have written the model: those that have the
        normalization rules of the model and all options that it stores. Empty if there are none.
    command : list of str
        The arguments with which ``spm_train`` trains a model with the same options; empty if it
        refuses them.
    refusal : str
        Why ``spm_train`` refuses these options; empty if it does not.
    faults : list of str
        What is wrong with pieces because of which ``sentencepiece`` does not load the model.
    """

    model_type: str
    size: int
    pieces: dict[str, int]
    scores: tuple[float, float] | None
    longest: int
    normalization: str
    rules_bytes: int
    is_predefined: bool
    releases: list[str]
    command: list[str]
    refusal: str
    faults: list[str]

    def to_dict(self) -> dict[str, object]:
        """Return the fields as data that JSON can represent."""
        return plain_fields(self)

    def rows(self) -> list[tuple[str, str]]:
        """Return the most important facts as the rows of a table."""
        kinds = ", ".join(f"{count:,} {name}" for name, count in self.pieces.items())
        rules = self.normalization or "not stored"
        predefined = "" if self.is_predefined else ", not predefined rules"
        releases = f"none of the known releases of sentencepiece ({', '.join(RELEASES)})"
        if self.releases:
            releases = f"sentencepiece {', '.join(self.releases)}, or spmcompat"
        elif self.is_predefined and self.normalization in OWN_NAMES:
            releases = "spmcompat: sentencepiece does not have these rules, but applies them"
        rows = [
            ("type", self.model_type),
            ("size", f"{self.size:,} bytes"),
            ("pieces", f"{sum(self.pieces.values()):,}: {kinds}"),
            ("longest piece", f"{self.longest} characters"),
        ]
        if self.scores is not None:
            rows.append(("scores", f"{self.scores[0]:g} to {self.scores[1]:g}"))
        rows += [
            ("normalization", f"{rules}, {self.rules_bytes:,} bytes{predefined}"),
            ("written by", releases),
        ]
        rows += [("cannot be loaded", fault) for fault in self.faults]
        return rows

    def __repr__(self) -> str:
        """Return a summary: the type of the model and the number of its pieces."""
        return f"<Contents: {self.model_type}, {sum(self.pieces.values()):,} pieces>"

    def __str__(self) -> str:
        """Return the report, as the command prints it. All texts from the model are printable."""
        head, *rows = self.rows()
        training = [
            "To train a similar model on your text:",
            "",
            f"  {printable(shlex.join(self.command))}",
            "",
            "A model stores neither pretokenizers nor the options that only spmcompat has. "
            "Adapt the paths.",
        ]
        if self.refusal:
            training = [f"spm_train refuses the options of the model: {printable(self.refusal)}"]
        return "\n".join([*table(head, rows, left=2), "", *training])

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        command = (
            ("spm_train", self.refusal) if self.refusal else ("command", shlex.join(self.command))
        )
        return html_of(Table(("", ""), [*self.rows(), command], 2))


def show(model: StrPath | bytes) -> Contents | TokenizerOverview:
    """Return the contents of a model, and a command that trains a similar model.

    A model with pieces because of which ``sentencepiece`` does not load it is shown, too.

    Parameters
    ----------
    model : path or bytes
        A ``.model`` file; a ``tokenizer.json``, or a folder that contains one; or the content of a
        file.

    Returns
    -------
    Contents or TokenizerOverview
        What a ``.model`` file or a ``tokenizer.json`` contains.

    Raises
    ------
    TrainingError
        If the model cannot be read.
    """
    document = document_of(model)
    if document is not None:
        path = "tokenizer.json" if isinstance(model, bytes) else os.fspath(model)
        return overview(document, path)
    shown, faults = read_for_editing(model)
    return contents(shown, [fault.message for fault in faults])


def contents(model: ModelProto, faults: Sequence[str] = ()) -> Contents:
    """Return the contents of a model. `faults` says what was wrong with its pieces."""
    normal = [piece for piece in model.pieces if piece.type == NORMAL]
    # Adding 0.0 turns -0.0, the first score of a BPE model, into 0.0.
    scores = [piece.score + 0.0 for piece in normal]
    normalizer = model.normalizer_spec
    releases, is_predefined = possible_writers(model)
    command, refusal = command_of(model, releases)
    return Contents(
        model_type=model_type_of(model.trainer_spec),
        size=model.ByteSize(),
        pieces=dict(Counter(type_name(piece.type) for piece in model.pieces)),
        scores=(shortest(min(scores)), shortest(max(scores))) if scores else None,
        longest=max((len(piece.piece) for piece in normal), default=0),
        normalization=normalizer.name,
        rules_bytes=len(normalizer.precompiled_charsmap),
        is_predefined=is_predefined,
        releases=[one.version for one in releases],
        command=command,
        refusal=refusal,
        faults=[*faults],
    )
