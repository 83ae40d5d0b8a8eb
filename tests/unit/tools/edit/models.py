"""Small models and texts for the tests of editing."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache
from pydoc_data.topics import topics
from typing import Any

import sentencepiece

import spmcompat
from spmcompat.model.pieces import Piece, pieces_of
from spmcompat.model.sentencepiece_model_pb2 import ModelProto

TYPES = ("unigram", "bpe", "word", "char")


@cache
def lines() -> list[str]:
    """Return the lines of the documentation that is part of every Python installation."""
    text = "\n".join(topics[name] for name in sorted(topics))
    return [line for line in text.splitlines() if line.strip()]


def train(model_type: str, text: Sequence[str], **options: Any) -> ModelProto:
    """Return a model trained on `text`, by default with at most 600 pieces."""
    written = io.BytesIO()
    given: dict[str, Any] = {
        "sentence_iterator": text,
        "model_type": model_type,
        "vocab_size": 600,
        "hard_vocab_limit": False,
        "use_all_vocab": model_type == "char",
        "minloglevel": 2,
        "model_writer": written,
        **{name: list(one) if isinstance(one, tuple) else one for name, one in options.items()},
    }
    spmcompat.SentencePieceTrainer.train(**given)
    return ModelProto.FromString(written.getvalue())


@cache
def _trained(model_type: str, text: tuple[str, ...], options: tuple[tuple[str, Any], ...]) -> bytes:
    return train(model_type, text or lines()[:4000], **dict(options)).SerializeToString()


def trained(model_type: str, text: tuple[str, ...] = (), **options: Any) -> ModelProto:
    """Return the cached result of `train`; without `text`, trains on ``lines()[:4000]``."""
    return ModelProto.FromString(_trained(model_type, text, tuple(sorted(options.items()))))


def processor(model: ModelProto) -> sentencepiece.SentencePieceProcessor:
    """Load a model with the real library, which must accept even a model with unused pieces."""
    return sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())


def by_text(model: ModelProto) -> dict[str, tuple[int, Piece]]:
    """Return the id and the piece of each text."""
    return {piece.text: (i, piece) for i, piece in enumerate(pieces_of(model))}
