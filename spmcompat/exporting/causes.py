"""Why a target encodes a line differently; each answer is a test on both results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec

if TYPE_CHECKING:
    from spmcompat.exporting.targets import Loaded

_PIECE = ModelProto.SentencePiece

NORMALIZER = "normalizer"
SYMBOLS = "symbols"
UNKNOWN = "unknown"
TIE = "tie"
OTHER = "other"

CAUSES = {
    NORMALIZER: "the normalized texts differ",
    SYMBOLS: "the line holds the text of a control, user-defined, unknown or byte piece",
    UNKNOWN: "one of the results holds the unknown piece, or bytes in its place",
    TIE: "the two segmentations have the same score",
    OTHER: "none of these",
}

# The other side adds up scores in float64 or in another order than sentencepiece, in float32.
_RELATIVE_ERROR = 1e-6


class Reference:
    """The model in the ``sentencepiece`` library, and what its pieces are."""

    def __init__(self, model: ModelProto) -> None:
        from sentencepiece import SentencePieceProcessor  # noqa: PLC0415

        self.model = model
        self._processor = SentencePieceProcessor(model_proto=model.SerializeToString())
        self.types = [piece.type for piece in model.pieces]
        self.symbols = [
            piece.piece
            for piece in model.pieces
            if piece.type not in (_PIECE.NORMAL, _PIECE.UNUSED)
        ]
        scores = [piece.score for piece in model.pieces if piece.type == _PIECE.NORMAL]
        self.is_bpe = model.trainer_spec.model_type == TrainerSpec.BPE
        self.has_equal_scores = len(set(scores)) < len(scores)

    def encode(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the ids of each line."""
        ids: list[list[int]] = self._processor.encode(list(lines), num_threads=1)
        return ids

    def normalize(self, line: str) -> str:
        """Return the normalized text of a line."""
        text: str = self._processor.normalize(line)
        return text

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids."""
        text: str = self._processor.decode(list(ids))
        return text

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the pieces of ids; an id out of range is shown as a number."""
        known = self.model.pieces
        return [known[one].piece if 0 <= one < len(known) else f"#{one}" for one in ids]

    def surface(self, ids: Sequence[int]) -> bytes | None:
        """Return the normalized text that ids stand for; None if one of them is unknown."""
        surface = b""
        for one in ids:
            if not 0 <= one < len(self.types) or self.types[one] == _PIECE.UNKNOWN:
                return None
            text = self.model.pieces[one].piece
            is_byte = self.types[one] == _PIECE.BYTE
            surface += bytes([int(text[3:5], 16)]) if is_byte else text.encode()
        return surface

    def score(self, ids: Sequence[int]) -> float:
        """Return the score of a segmentation."""
        return sum(self.model.pieces[one].score for one in ids)


def cause_of(
    reference: Reference,
    loaded: Loaded,
    line: str,
    expected: Sequence[int],
    actual: Sequence[int],
) -> str:
    """Name why the ids of a line differ.

    Parameters
    ----------
    reference : Reference
        The model in ``sentencepiece``.
    loaded : Loaded
        The export in its own library.
    line : str
        The line.
    expected, actual : sequence of int
        The ids of ``sentencepiece`` and of the target.

    Returns
    -------
    str
        One of `CAUSES`.
    """
    normalized = reference.normalize(line)
    if any(symbol in line or symbol in normalized for symbol in reference.symbols):
        return SYMBOLS
    if loaded.normalize is not None and loaded.normalize(line) != normalized:
        return NORMALIZER
    expected_surface, actual_surface = reference.surface(expected), reference.surface(actual)
    if expected_surface is None or actual_surface is None:
        return UNKNOWN
    if expected_surface != actual_surface:
        return NORMALIZER
    if any(reference.types[one] == _PIECE.BYTE for one in (*expected, *actual)):
        return UNKNOWN
    return TIE if _is_tie(reference, expected, actual) else OTHER


def _is_tie(reference: Reference, expected: Sequence[int], actual: Sequence[int]) -> bool:
    if reference.is_bpe:
        return reference.has_equal_scores
    ours, theirs = reference.score(expected), reference.score(actual)
    return abs(ours - theirs) <= _RELATIVE_ERROR * max(abs(ours), abs(theirs))
