"""Counts the pieces that two models share if space marks are ignored."""

from __future__ import annotations

from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.tools.diff.contents import pieces_by_text
from spmcompat.tools.diff.result import Vocabularies
from spmcompat.tools.evaluate.vocabularies import (
    Affixes,
    count_vocabulary,
    share_texts,
    texts_of_pieces,
)


def compare_vocabularies(
    left: ModelProto, right: ModelProto, affixes: Affixes | None
) -> Vocabularies:
    """Compare the normal pieces of two models, ignoring space marks.

    Parameters
    ----------
    left, right : ModelProto
        The models.
    affixes : Affixes, optional
        The affixes to count.
    """
    a, b = _normal_pieces(left), _normal_pieces(right)
    a_texts, b_texts = texts_of_pieces(a), texts_of_pieces(b)
    return Vocabularies(
        count_vocabulary(a, a_texts, affixes),
        count_vocabulary(b, b_texts, affixes),
        share_texts(a_texts, b_texts),
    )


def _normal_pieces(model: ModelProto) -> set[str]:
    return {one.piece for one in pieces_by_text(model).values() if one.type == "NORMAL"}
