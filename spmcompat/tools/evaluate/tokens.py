"""What the encoder makes of a text: how many tokens, of which pieces, and of which words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.unicode.marks import SPACE_MARK

# Order of the Renyi entropy at which efficiency agreed best with translation (Zouhar et al. 2023).
RENYI_ORDER = 2.5


class TokenKinds(NamedTuple):
    """What there is to know of each token of a vocabulary: arrays of one item a token.

    `begins` and `ends` tell where words do, `blank` is white space alone, `more_words` counts the
    words beyond the first that a token holds. Only what is `of_text` can be found unused.
    """

    begins: npt.NDArray[np.bool_]
    ends: npt.NDArray[np.bool_]
    blank: npt.NDArray[np.bool_]
    more_words: npt.NDArray[np.int64]
    unknown: npt.NDArray[np.bool_]
    byte: npt.NDArray[np.bool_]
    of_text: npt.NDArray[np.bool_]


def kinds_of_pieces(model: ModelProto) -> TokenKinds:
    """Tell words apart by the space marks in the pieces."""
    texts = [p.piece if p.type in (p.NORMAL, p.USER_DEFINED) else "" for p in model.pieces]
    types = np.array([piece.type for piece in model.pieces])
    return TokenKinds(
        begins=flags(text.startswith(SPACE_MARK) for text in texts),
        ends=flags(text.endswith(SPACE_MARK) for text in texts),
        blank=flags(bool(text) and not text.strip(SPACE_MARK) for text in texts),
        more_words=np.array([max(_words_in(text) - 1, 0) for text in texts], dtype=np.int64),
        unknown=types == ModelProto.SentencePiece.UNKNOWN,
        byte=types == ModelProto.SentencePiece.BYTE,
        of_text=flags(bool(text) for text in texts),
    )


class TokenCounts:
    """Counts tokens and words, a batch of lines at a time.

    A word is a run of tokens that no space mark parts; a space mark that is a token of its own
    belongs to none.

    Attributes
    ----------
    uses : array of int64, one for each token of the vocabulary
        How often each was used.
    words, whole_words : int
        Words, and those of them that lie in one token.
    """

    def __init__(self, kinds: TokenKinds) -> None:
        self._kinds = kinds
        self.uses = np.zeros(len(kinds.begins), dtype=np.int64)
        self.words = 0
        self.whole_words = 0

    def add(self, lines: Sequence[npt.NDArray[np.int32]]) -> None:
        """Count the ids of the tokens of each line."""
        lengths = np.fromiter(map(len, lines), dtype=np.int64, count=len(lines))
        ids = np.concatenate(lines)
        self.uses += np.bincount(ids, minlength=len(self.uses))
        self._count_words(ids, np.cumsum(lengths))

    def _count_words(self, ids: npt.NDArray[np.int32], line_ends: npt.NDArray[np.int64]) -> None:
        if len(ids) == 0:
            return
        begins = self._kinds.begins[ids]
        begins[1:] |= self._kinds.ends[ids[:-1]]
        begins[0] = True
        begins[line_ends[line_ends < len(ids)]] = True
        first = begins & ~self._kinds.blank[ids]
        ended = np.append(begins[1:], True)
        more = self._kinds.more_words[ids]
        self.words += int(first.sum() + more.sum())
        whole = first & ended
        self.whole_words += int(whole.sum() + more[whole].sum())

    @property
    def tokens(self) -> int:
        """Number of tokens."""
        return int(self.uses.sum())

    @property
    def unknown_rate(self) -> float:
        """Share of tokens that are the unknown piece."""
        return ratio(int(self.uses[self._kinds.unknown].sum()), self.tokens)

    @property
    def byte_rate(self) -> float:
        """Share of tokens that are single bytes."""
        return ratio(int(self.uses[self._kinds.byte].sum()), self.tokens)

    @property
    def unused(self) -> int:
        """Number of normal and user-defined pieces that were never used."""
        return int((self.uses[self._kinds.of_text] == 0).sum())

    @property
    def renyi_efficiency(self) -> float:
        """Renyi entropy of the tokens over the logarithm of the vocabulary's size."""
        if self.tokens == 0 or len(self.uses) < 2:
            return math.nan
        shares = self.uses[self.uses > 0] / self.tokens
        entropy = math.log(float((shares**RENYI_ORDER).sum())) / (1 - RENYI_ORDER)
        return entropy / math.log(len(self.uses))


def ratio(part: float, whole: float) -> float:
    """Return part / whole, and not a number where there is no whole."""
    return part / whole if whole else math.nan


def _words_in(text: str) -> int:
    return sum(bool(word) for word in text.split(SPACE_MARK))


def flags(values: Iterable[bool]) -> npt.NDArray[np.bool_]:
    """Return truth values as an array."""
    return np.fromiter(values, dtype=np.bool_)
