"""Per-line counts of the text and of a model, and the figures computed from their sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spmcompat.tools.evaluate.tokens import TokenKinds, ratio

_Floats = npt.NDArray[np.float64]


class TextSums(NamedTuple):
    """Sizes of each line, or of a whole text. Visible characters exclude white space."""

    bytes: _Floats
    characters: _Floats
    visible_characters: _Floats
    words: _Floats


class ModelSums(NamedTuple):
    """The counts of a model's tokens for each line, or for a whole text.

    The figures of a model are ratios of these counts and of `TextSums`. The sizes for the losses,
    `loss_characters` and `loss_bytes`, are separate, because some lines have no loss. `spaces` is
    the number that `lost_spaces` is a part of: the words, or the boundaries between words if the
    model's tokens of spaces are dropped.
    """

    tokens: _Floats
    unknown: _Floats
    byte_pieces: _Floats
    whole_words: _Floats
    lost_characters: _Floats
    lost_spaces: _Floats
    raw: _Floats
    renormalized: _Floats
    loss_characters: _Floats
    loss_bytes: _Floats
    spaces: _Floats


def text_sums(lines: Sequence[bytes], texts: Sequence[str]) -> TextSums:
    """Return the sizes of each line."""
    sizes = [
        (len(line), len(text), sum(map(len, words)), len(words))
        for line, text, words in zip(lines, texts, map(str.split, texts), strict=True)
    ]
    return TextSums(*np.array(sizes, dtype=np.float64).T)


def ratios(text: TextSums, model: ModelSums) -> dict[str, _Floats]:
    """Return the figures of several texts by name, which are ratios of these sums."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = {
            name: np.where(whole == 0, math.nan, part / whole)
            for name, (part, whole) in _pairs(text, model).items()
        }
    return {"tokens": model.tokens, **found}


def ratios_of_one(text: TextSums, model: ModelSums) -> dict[str, float]:
    """Return the ratios of the sums of one text by name."""
    pairs = _pairs(text, model)
    return {name: ratio(float(part), float(whole)) for name, (part, whole) in pairs.items()}


def _pairs(text: TextSums, model: ModelSums) -> dict[str, tuple[_Floats, _Floats]]:
    """Return the figures by name, each as a part and the whole that it is divided by."""
    return {
        "loss_per_character": (model.raw, model.loss_characters),
        "loss_per_byte": (model.raw, model.loss_bytes),
        "renormalized_loss_per_character": (model.renormalized, model.loss_characters),
        "renormalized_loss_per_byte": (model.renormalized, model.loss_bytes),
        "tokens_per_word": (model.tokens, text.words),
        "characters_per_token": (text.characters, model.tokens),
        "bytes_per_token": (text.bytes, model.tokens),
        "unknown_rate": (model.unknown, model.tokens),
        "lost_characters": (model.lost_characters, text.visible_characters),
        "lost_spaces": (model.lost_spaces, model.spaces),
        "byte_piece_rate": (model.byte_pieces, model.tokens),
        "whole_words": (model.whole_words, text.words),
    }


def count_tokens(kinds: TokenKinds, encoded: Sequence[npt.NDArray[np.int32]]) -> _Floats:
    """Return the numbers of tokens, unknown tokens and byte pieces in each line."""
    lengths = np.array([len(line) for line in encoded])
    ids = np.concatenate(encoded)
    line_of = np.repeat(np.arange(len(encoded)), lengths)
    return np.array(
        [
            lengths,
            np.bincount(line_of, kinds.unknown[ids], len(encoded)),
            np.bincount(line_of, kinds.byte[ids], len(encoded)),
        ]
    )
