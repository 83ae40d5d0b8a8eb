"""Reads the contents of a tokenizer.json as plain data."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from spmcompat.tools.diff.contents import NORMAL, by_text
from spmcompat.tools.diff.result import Piece, Value
from spmcompat.tools.export.document import (
    CHECKED_MODELS,
    TokenizerJsonError,
    document_path,
    read_content,
    read_document,
    short_name,
)

if TYPE_CHECKING:
    from spmcompat.engine import StrPath

UNIGRAM = "Unigram"


class TokenizerContents(NamedTuple):
    """The contents of a tokenizer.json.

    Attributes
    ----------
    content : bytes
        The content of the file.
    type : str
        The type of the model.
    fields : dict of str to value
        All values except tokens and merges by their paths, such as ``model.unk_token``.
    tokens, merges : dict of (str, int) to Piece
        The tokens by id, and the merges in their order. The key is the text and a counter, as in
        `pieces_by_text`.
    """

    content: bytes
    type: str
    fields: dict[str, Value]
    tokens: dict[tuple[str, int], Piece]
    merges: dict[tuple[str, int], Piece]

    @classmethod
    def of(cls, content: bytes) -> TokenizerContents:
        """Read the content of a file.

        Raises
        ------
        TokenizerJsonError
            If it is not a tokenizer.json.
        """
        document: dict[str, Any] = read_document(content)
        model = document["model"]
        if str(model["type"]) not in CHECKED_MODELS:
            raise TokenizerJsonError(
                f"its model is {short_name(str(model['type']))}, not one of "
                f"{', '.join(CHECKED_MODELS)}."
            )
        added = document.get("added_tokens") or []
        vocab, merges = model.pop("vocab", None) or {}, model.pop("merges", None) or []
        document.pop("added_tokens", None)
        scored = [*vocab] if isinstance(vocab, list) else [(text, None) for text in vocab]
        ids = range(len(scored)) if isinstance(vocab, list) else vocab.values()
        tokens = {
            (id, text): Piece(id, text, score, NORMAL, "")
            for id, (text, score) in zip(ids, scored, strict=True)
        }
        for token in added:
            key = token["id"], token["content"]
            flags = ", ".join(name for name, value in token.items() if value is True)
            kind = "SPECIAL" if token["special"] else "ADDED"
            score = tokens[key].score if key in tokens else None
            tokens[key] = Piece(*key, score, kind, flags)
        pairs = (one if isinstance(one, str) else " ".join(one) for one in merges)
        try:
            fields = dict(_values("", document))
        except RecursionError:
            raise TokenizerJsonError(
                "not a tokenizer.json: its JSON is nested too deeply."
            ) from None
        return cls(
            content,
            str(model["type"]),
            fields,
            by_text(tokens[key] for key in sorted(tokens)),
            by_text(Piece(n, text, None, NORMAL, "") for n, text in enumerate(pairs)),
        )


def document_of(model: StrPath | bytes) -> TokenizerContents | None:
    """Return the contents of a tokenizer.json; None if a model is given.

    Parameters
    ----------
    model : path or bytes
        A file, a folder that contains a tokenizer.json, or the content of a file.

    Raises
    ------
    TrainingError
        If the file cannot be read, or is not a tokenizer.json.
    """
    if isinstance(model, bytes):
        return TokenizerContents.of(model) if is_document(model) else None
    path = document_path(os.fspath(model))
    if not path.endswith(".json"):
        return None
    content = read_content(path)
    try:
        return TokenizerContents.of(content)
    except TokenizerJsonError as error:
        raise TokenizerJsonError(f'"{path}": {error}') from None


def is_document(content: bytes) -> bool:
    """Return whether content may be a tokenizer.json."""
    # A model begins with a line feed and the size of its first piece, which may be that of "{".
    return content.lstrip()[:1] == b"{" and not re.match(rb'\n\{\n?[^\s"}]', content)


def _values(path: str, value: object) -> Iterator[tuple[str, Value]]:
    """Yield the path and the value of everything in a document that contains nothing else."""
    if isinstance(value, dict) and value:
        for name, one in value.items():
            yield from _values(f"{path}.{name}" if path else name, one)
    elif isinstance(value, list) and value:
        for number, one in enumerate(value):
            yield from _values(f"{path}[{number}]", one)
    else:
        yield path, value if isinstance(value, str | int | float) else json.dumps(value)
