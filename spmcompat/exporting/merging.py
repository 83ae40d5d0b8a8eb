"""The merges that stand for the scores of a BPE model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from spmcompat.model.sentencepiece_model_pb2 import ModelProto

_PIECE = ModelProto.SentencePiece


def mergeable(model: ModelProto) -> dict[str, float]:
    """Return the pieces that merges can make, with their scores."""
    return {
        piece.piece: piece.score
        for piece in model.pieces
        if piece.type in (_PIECE.NORMAL, _PIECE.UNUSED)
    }


def merges_of(model: ModelProto) -> list[tuple[str, str]]:
    """Return the merges, the first one to apply first.

    ``sentencepiece`` merges any two neighbours whose joined text is a piece, the highest score
    first. So every split of a piece into two pieces is a merge. A user-defined symbol is never
    part of one.
    """
    scores = mergeable(model)
    merges = [
        (-score, index, left, right)
        for index, (text, score) in enumerate(scores.items())
        for left, right in splits(text, scores)
    ]
    merges.sort(key=lambda merge: merge[:2])
    return [(left, right) for _, _, left, right in merges]


def splits(text: str, pieces: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """Yield the splits of a text into two pieces."""
    for cut in range(1, len(text)):
        left, right = text[:cut], text[cut:]
        if left in pieces and right in pieces:
            yield left, right


def segment(text: str, pieces: Mapping[str, float]) -> list[str]:
    """Cut a text without user-defined symbols into pieces, as ``sentencepiece`` does.

    Parameters
    ----------
    text : str
        A normalized text.
    pieces : mapping of str to float
        What `mergeable` returns.
    """
    parts = list(text)
    while len(parts) > 1:
        best, place = None, -1
        for index in range(len(parts) - 1):
            score = pieces.get(parts[index] + parts[index + 1])
            if score is not None and (best is None or score > best):
                best, place = score, index
        if best is None:
            break
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    return parts
