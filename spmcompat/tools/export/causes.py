"""Finds out why a target and sentencepiece encode a line differently."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spmcompat.model.pieces import BYTE, NORMAL, UNKNOWN, UNUSED, is_learned
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.tools.export.normalizer_json import NO_PIECE, hidden_characters

if TYPE_CHECKING:
    from spmcompat.tools.export.targets import Loaded


NORMALIZER = "normalizer"
SYMBOLS = "symbols"
UNKNOWN_PIECE = "unknown"
TIE = "tie"
ORDER = "order"
OTHER = "other"

CAUSES = {
    NORMALIZER: "the normalized texts differ",
    SYMBOLS: "the line contains the text of a control, user-defined, unknown or byte piece",
    UNKNOWN_PIECE: "one of the results contains the unknown piece, or bytes in its place",
    TIE: "the two segmentations have the same score",
    ORDER: "pieces have the same score, and the export merges them in another order",
    OTHER: "none of these",
}

# Stands for unknown characters. This byte never occurs in UTF-8.
_UNKNOWN_CHARACTERS = b"\xff"

# The rounding error of float32. Sums of scores may differ, because sentencepiece adds up scores in
# float32, and other libraries in float64.
_FLOAT32 = 2.0**-24


class Reference:
    """A model that the ``sentencepiece`` library has loaded, and the types of its pieces."""

    def __init__(self, model: ModelProto) -> None:
        from sentencepiece import SentencePieceProcessor

        self.model = model
        self._processor = SentencePieceProcessor(model_proto=model.SerializeToString())
        self.types = [piece.type for piece in model.pieces]
        self.symbols = [piece.piece for piece in model.pieces if not is_learned(piece)]
        scores = [piece.score for piece in model.pieces if piece.type == NORMAL]
        self.is_bpe = model.trainer_spec.model_type == TrainerSpec.BPE
        self._hidden = {ord(one): NO_PIECE for one in hidden_characters(model)}
        self.has_equal_scores = len(set(scores)) < len(scores)

    def encode(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the ids of each line."""
        ids: list[list[int]] = self._processor.encode(list(lines), num_threads=1)
        return ids

    def normalize(self, line: str) -> str:
        """Return the normalized text of a line."""
        text: str = self._processor.normalize(line)
        return text

    def hide(self, text: str) -> str:
        """Replace the characters that an export replaces, because they are unknown anyway."""
        return text.translate(self._hidden)

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the pieces with these ids. An id that is out of range becomes ``#`` and the id."""
        known = self.model.pieces
        return [known[one].piece if 0 <= one < len(known) else f"#{one}" for one in ids]

    def surface(self, ids: Sequence[int]) -> bytes:
        """Return the normalized text that the ids represent, with 0xFF for each unknown piece."""
        surface = b""
        for one in ids:
            if self.is_unknown(one):
                surface += _UNKNOWN_CHARACTERS
                continue
            text = self.model.pieces[one].piece
            is_byte = self.types[one] == BYTE
            surface += bytes([int(text[3:5], 16)]) if is_byte else text.encode()
        return surface

    def is_unknown(self, one: int) -> bool:
        """Return whether an id is the id of the unknown piece, or out of range."""
        return not 0 <= one < len(self.types) or self.types[one] == UNKNOWN

    def score(self, ids: Sequence[int]) -> float:
        """Return the sum of the scores of the normal pieces in a segmentation."""
        return sum(self.model.pieces[one].score for one in ids if self.types[one] == NORMAL)


def cause_of(
    reference: Reference,
    loaded: Loaded,
    line: str,
    expected: Sequence[int],
    actual: Sequence[int],
) -> str:
    """Return why the ids of a line differ.

    Parameters
    ----------
    reference : Reference
        The model, loaded by ``sentencepiece``.
    loaded : Loaded
        The export, loaded by the target's library.
    line : str
        The line that both libraries encoded.
    expected, actual : sequence of int
        The ids that ``sentencepiece`` and the target's library return.

    Returns
    -------
    str
        One of `CAUSES`.
    """
    normalized = reference.normalize(line)
    surface, other = reference.surface(expected), reference.surface(actual)
    text = normalized.encode()
    is_same_text = surface == other or (_spells(surface, text) and _spells(other, text))
    if is_same_text and _is_tie(reference, expected, actual):
        return ORDER if reference.is_bpe else TIE
    if any(symbol in line or symbol in normalized for symbol in reference.symbols):
        return SYMBOLS
    if loaded.normalize is not None:
        hide = reference.hide
        if hide(loaded.normalize(line)) != hide(normalized):
            return NORMALIZER
    if _reserved(reference, expected) != _reserved(reference, actual):
        return UNKNOWN_PIECE
    return OTHER if is_same_text else NORMALIZER


def _spells(surface: bytes, text: bytes) -> bool:
    """Return whether `surface` matches `text`. Each 0xFF in it matches one or more characters."""
    first, *others = surface.split(_UNKNOWN_CHARACTERS)
    if not others:
        return surface == text
    last = others.pop()
    end = len(text) - len(last)
    if not (text.startswith(first) and text.endswith(last)):
        return False
    at = len(first)
    for known in others:
        at = text.find(known, at + 1, end)
        # `known` is empty between two adjacent unknown pieces. Such pieces never match the text,
        # because a single unknown piece represents all consecutive unknown characters.
        if at < 0 or not known:
            return False
        at += len(known)
    return at < end


def _reserved(reference: Reference, ids: Sequence[int]) -> list[int]:
    """Return the ids of pieces that are not normal, in ascending order."""
    known = range(len(reference.types))
    normal = (NORMAL, UNUSED)
    return sorted(one for one in ids if one not in known or reference.types[one] not in normal)


def _is_tie(reference: Reference, expected: Sequence[int], actual: Sequence[int]) -> bool:
    """Return whether two segmentations have the same score, apart from float32 rounding errors.

    Both segmentations must spell the same text. An unknown piece covers one or more characters, and
    all unknown characters cost the same. So if both have the same number of unknown characters,
    only the scores of their known pieces have to be compared.
    """
    known, others = (
        [one for one in ids if not reference.is_unknown(one)] for ids in (expected, actual)
    )
    if _reserved(reference, known) != _reserved(reference, others):
        return False
    if len("".join(reference.pieces(known))) != len("".join(reference.pieces(others))):
        return False
    if reference.is_bpe:
        return reference.has_equal_scores
    ours, theirs = reference.score(known), reference.score(others)
    return abs(ours - theirs) <= _FLOAT32 * len(expected) * abs(ours)
