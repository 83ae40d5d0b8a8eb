"""Per-line counts of the text and of a model, and the figures computed from their sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spmcompat.tools.evaluate.tokens import TokenKinds

_Floats = npt.NDArray[np.float64]


class TextSums(NamedTuple):
    """Sizes of each line, or of the whole text. Visible characters exclude white space."""

    bytes: _Floats
    characters: _Floats
    visible_characters: _Floats
    words: _Floats


class ModelSums(NamedTuple):
    """The counts of a model's tokens for each line, or for the whole text.

    The figures of a model are ratios of these counts and of `TextSums`. The sizes for the losses,
    `loss_characters` and `loss_bytes`, are separate, because some lines have no loss.
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


def text_sums(
    lines: Sequence[bytes], texts: Sequence[str], words: npt.NDArray[np.int64]
) -> TextSums:
    """Return the sizes of each line."""
    return TextSums(
        np.array([len(line) for line in lines], dtype=np.float64),
        np.array([len(text) for text in texts], dtype=np.float64),
        np.array([sum(map(len, text.split())) for text in texts], dtype=np.float64),
        words.astype(np.float64),
    )


def ratios(text: TextSums, model: ModelSums) -> dict[str, _Floats]:
    """Return the figures, which are ratios of these sums, by name."""
    pairs = {
        "loss_per_character": (model.raw, model.loss_characters),
        "loss_per_byte": (model.raw, model.loss_bytes),
        "renormalized_loss_per_character": (model.renormalized, model.loss_characters),
        "renormalized_loss_per_byte": (model.renormalized, model.loss_bytes),
        "tokens_per_word": (model.tokens, text.words),
        "characters_per_token": (text.characters, model.tokens),
        "bytes_per_token": (text.bytes, model.tokens),
        "unknown_rate": (model.unknown, model.tokens),
        "lost_characters": (model.lost_characters, text.visible_characters),
        "lost_spaces": (model.lost_spaces, text.words),
        "byte_piece_rate": (model.byte_pieces, model.tokens),
        "whole_words": (model.whole_words, text.words),
    }
    with np.errstate(divide="ignore", invalid="ignore"):
        found = {
            name: np.where(whole == 0, math.nan, part / whole)
            for name, (part, whole) in pairs.items()
        }
    return {"tokens": model.tokens, **found}


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
