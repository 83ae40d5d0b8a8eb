"""The merges that correspond to the scores of a BPE model."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence

from spmcompat.model.encoding import BpeEncoder
from spmcompat.model.pieces import USER_DEFINED, is_learned, pieces_of
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.tools.export.merge_order import longer_pieces, order


def mergeable(model: ModelProto) -> dict[str, float]:
    """Return the pieces that merges can produce, with their scores."""
    return {piece.piece: piece.score for piece in model.pieces if is_learned(piece)}


def merges_of(model: ModelProto) -> list[tuple[str, str]]:
    """Return the merges in the order in which they are applied.

    ``sentencepiece`` merges any two neighbours whose joined text is a piece, highest score first.
    So each way to split a piece into two other pieces is a merge. User-defined symbols are never
    merged.
    """
    return ordered_merges(model)[0]


def ordered_merges(model: ModelProto) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the result of `merges_of`, and the pieces whose place in it may not suit all texts.

    Of two possible merges with the same score, ``sentencepiece`` applies the left one first. In a
    list of merges, one of them always comes first. See `merge_order`.
    """
    scores = mergeable(model)
    lengths = sorted({len(text) for text in scores})
    parts = {
        text: [
            (text[:cut], text[cut:])
            for cut in lengths[: bisect_left(lengths, len(text))]  # few, even if a text is long
            if text[:cut] in scores and text[cut:] in scores
        ]
        for text in scores
    }
    by_score: defaultdict[float, list[str]] = defaultdict(list)
    for text, score in scores.items():
        if parts[text]:
            by_score[score].append(text)
    longer = longer_pieces(parts)
    stuck: dict[float, list[str]] = {}
    for score, group in by_score.items():
        by_score[score], others = order(group, parts, longer, scores)
        if others:
            stuck[score] = others
    if stuck:
        # Most merges are those that a piece's own text leads to. So an order that suits these
        # merges is right for most texts.
        encoder = encoder_without_symbols(model)
        usual = {text: [pair] if (pair := encoder.parts(text)) else [] for text in scores}
        longer = longer_pieces(usual)
        for score in stuck:
            by_score[score], _ = order(by_score[score], usual, longer, scores)
    ordered = (text for _, group in sorted(by_score.items(), reverse=True) for text in group)
    misplaced = [text for group in stuck.values() for text in group]
    return [pair for text in ordered for pair in parts[text]], misplaced


def encoder_without_symbols(model: ModelProto) -> BpeEncoder:
    """Return the encoder of a BPE model, for texts that contain no user-defined symbols."""
    return BpeEncoder(piece for piece in pieces_of(model) if piece.type != USER_DEFINED)


def same_order(ours: Sequence[tuple[str, str]], theirs: Sequence[tuple[str, str]]) -> bool:
    """Return whether the merges are the same and produce the pieces in the same order.

    The order of the merges that produce the same piece does not matter, because they have the same
    score.
    """
    if set(ours) != set(theirs) or len(ours) != len(theirs):
        return False
    return [a + b for a, b in ours] == [a + b for a, b in theirs]
