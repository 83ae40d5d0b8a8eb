"""The pieces of a model as plain tuples. The id of a piece is its index."""

from __future__ import annotations

from typing import NamedTuple

from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec

_TYPES = ModelProto.SentencePiece
NORMAL, UNKNOWN, CONTROL = _TYPES.NORMAL, _TYPES.UNKNOWN, _TYPES.CONTROL
USER_DEFINED, UNUSED, BYTE = _TYPES.USER_DEFINED, _TYPES.UNUSED, _TYPES.BYTE

BYTE_PIECES = tuple(f"<0x{byte:02X}>" for byte in range(256))
"""The texts of the pieces that ``byte_fallback`` uses for each byte."""

BYTES_LIMIT = 8000
"""``sentencepiece`` from 0.2.2 on does not load a model with a piece of this many bytes or more."""


class Piece(NamedTuple):
    """An entry of a vocabulary.

    Attributes
    ----------
    text : str
        The text, with U+2581 for spaces.
    score : float
        The score, a value of float32.
    type : int
        `NORMAL`, `UNKNOWN`, `CONTROL`, `USER_DEFINED`, `UNUSED` or `BYTE`.
    """

    text: str
    score: float
    type: int = NORMAL


def pieces_of(model: ModelProto) -> list[Piece]:
    """Return the pieces of a model in the order of their ids."""
    return [Piece(one.piece, one.score, one.type) for one in model.pieces]


def texts_of_type(model: ModelProto, *types: int) -> list[str]:
    """Return the texts of the pieces that have one of these types, in the order of their ids."""
    return [piece.piece for piece in model.pieces if piece.type in types]


def is_learned(piece: Piece | ModelProto.SentencePiece) -> bool:
    """Return whether a piece was learned from a text: it is normal, or is not used any more."""
    return piece.type in (NORMAL, UNUSED)


def type_name(piece_type: int) -> str:
    """Return the name of a type of pieces, such as ``user-defined``."""
    return ModelProto.SentencePiece.Type.Name(piece_type).lower().replace("_", "-")


def model_type_of(spec: TrainerSpec) -> str:
    """Return the type of a model: ``unigram``, ``bpe``, ``word`` or ``char``."""
    return TrainerSpec.ModelType.Name(spec.model_type).lower()


def characters_of(model: ModelProto) -> set[str]:
    """Return the characters of the learned pieces of a model."""
    return {one for piece in model.pieces if is_learned(piece) for one in piece.piece}
