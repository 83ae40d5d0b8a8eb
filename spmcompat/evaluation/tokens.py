"""What the encoder makes of a text: how many tokens, of which pieces, and of which words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from spmcompat.model.sentencepiece_model_pb2 import ModelProto

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor

_SPACE = "\u2581"

# Order of the Renyi entropy at which efficiency agreed best with translation (Zouhar et al. 2023).
RENYI_ORDER = 2.5


class TokenCounts:
    """Counts tokens and words, a batch of lines at a time.

    A word is a run of tokens that no space mark parts; a space mark that is a token of its own
    belongs to none.

    Attributes
    ----------
    uses : array of int64, one for each piece
        How often each piece was used.
    words, whole_words : int
        Words, and those of them that lie in one token.
    """

    def __init__(self, model: ModelProto, encoder: SentencePieceProcessor, threads: int) -> None:
        self._encoder = encoder
        self._threads = threads
        texts = [p.piece if p.type in (p.NORMAL, p.USER_DEFINED) else "" for p in model.pieces]
        self._begins = _flags(text.startswith(_SPACE) for text in texts)
        self._ends = _flags(text.endswith(_SPACE) for text in texts)
        self._blank = _flags(bool(text) and not text.strip(_SPACE) for text in texts)
        self._more_words = np.array([max(_words_in(t) - 1, 0) for t in texts], dtype=np.int64)
        types = np.array([piece.type for piece in model.pieces])
        self._unknown = types == ModelProto.SentencePiece.UNKNOWN
        self._byte = types == ModelProto.SentencePiece.BYTE
        self._of_text = _flags(bool(text) for text in texts)
        self.uses = np.zeros(len(texts), dtype=np.int64)
        self.words = 0
        self.whole_words = 0

    def add(self, lines: Sequence[bytes]) -> None:
        """Encode lines in UTF-8, without their line ends, and count."""
        encoded = self._encoder.encode(lines, return_type="numpy", num_threads=self._threads)
        lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
        ids = np.concatenate(encoded)
        self.uses += np.bincount(ids, minlength=len(self.uses))
        self._count_words(ids, np.cumsum(lengths))

    def _count_words(self, ids: npt.NDArray[np.int32], line_ends: npt.NDArray[np.int64]) -> None:
        if len(ids) == 0:
            return
        begins = self._begins[ids]
        begins[1:] |= self._ends[ids[:-1]]
        begins[0] = True
        begins[line_ends[line_ends < len(ids)]] = True
        first = begins & ~self._blank[ids]
        ended = np.append(begins[1:], True)
        more = self._more_words[ids]
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
        return ratio(int(self.uses[self._unknown].sum()), self.tokens)

    @property
    def byte_rate(self) -> float:
        """Share of tokens that are single bytes."""
        return ratio(int(self.uses[self._byte].sum()), self.tokens)

    @property
    def unused(self) -> int:
        """Number of normal and user-defined pieces that were never used."""
        return int((self.uses[self._of_text] == 0).sum())

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
    return sum(bool(word) for word in text.split(_SPACE))


def _flags(values: Iterable[bool]) -> npt.NDArray[np.bool_]:
    return np.fromiter(values, dtype=np.bool_)
