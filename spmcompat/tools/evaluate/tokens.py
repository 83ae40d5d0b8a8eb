"""Counts the tokens of an encoded text, and counts words by the space marks of the tokens."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from spmcompat.engine import SPACE_MARK
from spmcompat.model.pieces import NORMAL, USER_DEFINED
from spmcompat.model.sentencepiece_model_pb2 import ModelProto

# The order of Renyi entropy that correlates best with translation quality (Zouhar et al. 2023).
RENYI_ORDER = 2.5


class TokenKinds(NamedTuple):
    """Properties of the tokens of a vocabulary; every array has one item for each token.

    Attributes
    ----------
    begins, ends : array of bool
        Whether the token is marked as the beginning, or as the end, of a word.
    blank : array of bool
        Whether the token is only white space.
    more_words : array of int64
        The number of words in the token minus one, or 0 if the token contains no word.
    unknown, byte : array of bool
        Whether the token is the unknown piece, and whether it is a byte piece.
    of_text : array of bool
        Whether the token represents text. Tokens such as control pieces do not, and never count as
        unused.
    """

    begins: npt.NDArray[np.bool_]
    ends: npt.NDArray[np.bool_]
    blank: npt.NDArray[np.bool_]
    more_words: npt.NDArray[np.int64]
    unknown: npt.NDArray[np.bool_]
    byte: npt.NDArray[np.bool_]
    of_text: npt.NDArray[np.bool_]


def kinds_of_pieces(model: ModelProto) -> TokenKinds:
    """Return the properties of a model's pieces. Space marks show where words begin or end."""
    texts = [p.piece if p.type in (NORMAL, USER_DEFINED) else "" for p in model.pieces]
    types = np.array([piece.type for piece in model.pieces])
    kinds = kinds_of_texts(
        texts,
        unknown=types == ModelProto.SentencePiece.UNKNOWN,
        byte=types == ModelProto.SentencePiece.BYTE,
    )
    more_words = [max(_words_in(text) - 1, 0) for text in texts]
    return kinds._replace(more_words=np.array(more_words, dtype=np.int64))


def kinds_of_texts(
    texts: Sequence[str],
    unknown: npt.NDArray[np.bool_],
    byte: npt.NDArray[np.bool_],
    marks: str = SPACE_MARK,
) -> TokenKinds:
    """Return the properties of tokens that contain at most one word.

    The text of a token that does not represent text is empty. Each character in `marks` represents
    a space.
    """
    return TokenKinds(
        begins=flags(text.startswith(tuple(marks)) for text in texts),
        ends=flags(text.endswith(tuple(marks)) for text in texts),
        blank=flags(bool(text) and not text.strip(marks) for text in texts),
        more_words=np.zeros(len(texts), dtype=np.int64),
        unknown=unknown,
        byte=byte,
        of_text=flags(bool(text) for text in texts),
    )


class LineWords(NamedTuple):
    """The number of words in each line, counted by the marks for word boundaries in its tokens.

    Attributes
    ----------
    words, whole_words : array of int64
        For each line, the number of words, and the number of words that consist of a single token.
    """

    words: npt.NDArray[np.int64]
    whole_words: npt.NDArray[np.int64]


def words_by_marks(kinds: TokenKinds, lines: Sequence[npt.NDArray[np.int32]]) -> LineWords:
    """Count the words in the tokens of each line.

    A word is a sequence of tokens between space marks. A token of only space marks does not belong
    to any word.
    """
    lengths = np.fromiter(map(len, lines), dtype=np.int64, count=len(lines))
    ids = np.concatenate(lines)
    if len(ids) == 0:
        return LineWords(np.zeros_like(lengths), np.zeros_like(lengths))
    line_begins = np.cumsum(lengths) - lengths
    begins = kinds.begins[ids]
    begins[1:] |= kinds.ends[ids[:-1]]
    begins[line_begins[lengths > 0]] = True
    first = begins & ~kinds.blank[ids]
    ended = np.append(begins[1:], True)
    counts = np.where(first, 1, 0) + kinds.more_words[ids]
    line_of = np.repeat(np.arange(len(lines)), lengths)
    words = np.bincount(line_of, counts, len(lines))
    whole = np.bincount(line_of, np.where(first & ended, counts, 0), len(lines))
    return LineWords(words.astype(np.int64), whole.astype(np.int64))


def token_figures(
    kinds: TokenKinds, uses: npt.NDArray[np.int64], *, drops_spaces: bool
) -> dict[str, Any]:
    """Return the figures that depend only on how often the text uses each token, by name.

    See `Evaluation`. If tokens of spaces are dropped, their numbers of uses have no effect.
    """
    if drops_spaces:
        kept = ~kinds.blank
        kinds, uses = TokenKinds._make(values[kept] for values in kinds), uses[kept]
    tokens = int(uses.sum())
    return {
        "pieces": len(uses),
        "tokens": tokens,
        "unknown_rate": ratio(int(uses[kinds.unknown].sum()), tokens),
        "byte_piece_rate": ratio(int(uses[kinds.byte].sum()), tokens),
        "renyi_efficiency": _renyi_efficiency(uses, len(uses)),
        # The program tokenization-scorer (Zouhar et al. 2023) computes this.
        "renyi_efficiency_observed": _renyi_efficiency(uses, int((uses > 0).sum())),
        "unused_pieces": int((uses[kinds.of_text] == 0).sum()),
    }


def _renyi_efficiency(uses: npt.NDArray[np.int64], types: int) -> float:
    """Return the Renyi entropy of the tokens divided by the logarithm of a number of types."""
    tokens = int(uses.sum())
    if tokens == 0 or types < 2:
        return math.nan
    shares = uses[uses > 0] / tokens
    entropy = math.log(float((shares**RENYI_ORDER).sum())) / (1 - RENYI_ORDER)
    return entropy / math.log(types)


def ratio(part: float, whole: float) -> float:
    """Return part / whole; NaN if the whole is 0."""
    return part / whole if whole else math.nan


def _words_in(text: str) -> int:
    return sum(bool(word) for word in text.split(SPACE_MARK))


def flags(values: Iterable[bool]) -> npt.NDArray[np.bool_]:
    """Return the values as an array."""
    return np.fromiter(values, dtype=np.bool_)
