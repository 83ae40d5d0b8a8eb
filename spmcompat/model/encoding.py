"""Encodes normalized texts with a finished model.

Unlike ``sentencepiece``, these encoders return each unknown character as a separate token. They are
not meant for large texts.

Source: ``bpe_model.cc``, ``unigram_model.cc``, ``model_interface.cc`` and ``normalizer.cc`` of
``sentencepiece`` 0.2.3; for ``encodes_in_float=False``, ``unigram_model.cc`` of 0.2.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from heapq import heappop, heappush

from spmcompat.model.pieces import NORMAL, UNUSED, USER_DEFINED, Piece, is_learned
from spmcompat.model.sentencepiece_model_pb2 import TrainerSpec
from spmcompat.runtime.rounding import LARGEST_FLOAT32, to_float32
from spmcompat.unicode.marks import SPACE_MARK

UNKNOWN_PENALTY = 10.0
"""Unigram: the score of an unknown character is this much below the lowest score of a piece.

Training uses the same value, ``kUnknownPenalty`` in ``unigram/pieces.hpp``.
"""

_LARGEST_SUM = 100_000.0  # `_reset` is called for sums of scores with a larger absolute value
_MOST_MATCHES = 64  # at one position, only the 64 shortest user-defined symbols are found


def symbol_score(symbol: str) -> float:
    """Return the score that a user-defined symbol has when a Unigram model encodes a text."""
    return to_float32(0.1 * (len(symbol.encode()) - 1))


def encoder_of(
    pieces: Iterable[Piece], trainer: TrainerSpec, *, encodes_in_float: bool = True
) -> Callable[[str], list[str]]:
    """Return the function that encodes normalized texts with a vocabulary.

    Parameters
    ----------
    pieces : iterable of Piece
        The vocabulary.
    trainer : TrainerSpec
        The options of the model.
    encodes_in_float : bool
        See `UnigramEncoder`.
    """
    if trainer.model_type == TrainerSpec.BPE:
        return BpeEncoder(pieces).encode
    if trainer.model_type == TrainerSpec.UNIGRAM:
        return UnigramEncoder(pieces, encodes_in_float=encodes_in_float).encode
    if trainer.model_type == TrainerSpec.CHAR:
        split = _SymbolFinder(pieces).split
        return lambda text: [one for one, _ in split(text)]
    return _words


class BpeEncoder:
    """Encodes texts with a BPE model.

    Parameters
    ----------
    pieces : iterable of Piece
        The vocabulary.
    """

    def __init__(self, pieces: Iterable[Piece]) -> None:
        pieces = list(pieces)
        # Merges may produce unused pieces. After the last merge, these are split into their parts.
        self._scores = {p.text: p.score for p in pieces if is_learned(p)}
        self._longest = max(map(len, self._scores), default=0)
        self._unused = {p.text for p in pieces if p.type == UNUSED}
        self._symbols = _SymbolFinder(pieces)

    def encode(self, text: str) -> list[str]:
        """Return the tokens of a normalized text."""
        symbols, merges = self._merge(text)
        parts = {one: (left, right) for one, left, right in merges if one in self._unused}
        tokens: list[str] = []
        for symbol in symbols:
            _take_apart(symbol, parts, tokens)
        return tokens

    def merges(self, text: str) -> list[tuple[str, str, str]]:
        """Return the merges of a text in order, each as the merged piece and its two parts."""
        return self._merge(text)[1]

    def parts(self, text: str) -> tuple[str, str] | None:
        """Return the two parts that a text is merged from, or None if merges cannot produce it."""
        merges = self.merges(text)
        return merges[-1][1:] if merges and merges[-1][0] == text else None

    def _merge(self, text: str) -> tuple[list[str], list[tuple[str, str, str]]]:
        """Return the remaining symbols, and the merges."""
        split = self._symbols.split(text)
        size = len(split)
        symbols = [one for one, _ in split]  # "" if merged into the previous symbol
        after = list(range(1, size + 1))
        before = list(range(-1, size - 1))
        queue: list[tuple[float, int, str]] = []

        def push(left: int) -> None:
            right = after[left]
            if right == size or split[left][1] or split[right][1]:
                return
            if len(symbols[left]) + len(symbols[right]) > self._longest:
                return
            joined = symbols[left] + symbols[right]
            if (score := self._scores.get(joined)) is not None:
                heappush(queue, (-score, left, joined))  # ties: the leftmost comes first

        for left in range(size):
            push(left)
        merges = []
        while queue:
            _, left, joined = heappop(queue)
            right = after[left]
            if right == size or not symbols[left] or symbols[left] + symbols[right] != joined:
                continue
            merges.append((joined, symbols[left], symbols[right]))
            symbols[left], symbols[right] = joined, ""
            after[left] = after[right]
            if after[left] < size:
                before[after[left]] = left
            if before[left] >= 0:
                push(before[left])
            push(left)
        return [one for one in symbols if one], merges


def _take_apart(symbol: str, parts: dict[str, tuple[str, str]], tokens: list[str]) -> None:
    """Append a symbol to the tokens. An unused piece is split into the parts it was merged from."""
    waiting = [symbol]
    while waiting:
        one = waiting.pop()
        if one in parts:
            waiting += reversed(parts[one])
        else:
            tokens.append(one)


class UnigramEncoder:
    """Encodes texts with a Unigram model.

    Parameters
    ----------
    pieces : iterable of Piece
        The vocabulary.
    encodes_in_float : bool
        Whether sums of scores are rounded to float32 before they are compared, as in sentencepiece
        from 0.2.2 on. If not, the encoder works as before 0.2.2: sums are rounded only when they
        are stored, large sums are not reset, and `_old_symbol_score` returns the score of a
        user-defined symbol.
    """

    def __init__(self, pieces: Iterable[Piece], *, encodes_in_float: bool = True) -> None:
        pieces = list(pieces)
        self._in_float = encodes_in_float
        self._scores = {p.text: p.score for p in pieces if p.type == NORMAL}
        lowest = min(self._scores.values(), default=LARGEST_FLOAT32)
        highest = max(self._scores.values(), default=0.0)
        self._unknown = to_float32(lowest - UNKNOWN_PENALTY)
        for piece in pieces:
            if piece.type == USER_DEFINED:
                self._scores[piece.text] = (
                    symbol_score(piece.text)
                    if encodes_in_float
                    else _old_symbol_score(piece.text, highest)
                )
        self._lengths = sorted({1, *map(len, self._scores)})

    def encode(self, text: str) -> list[str]:
        """Return the tokens of a normalized text."""
        return self._best_path(text, self._scores)

    def score_without(self, text: str) -> float:
        """Return the score of the best path for a piece's own text that does not use the piece."""
        scores = {piece: score for piece, score in self._scores.items() if piece != text}
        path = self._best_path(text, scores)
        return math.fsum(scores.get(token, self._unknown) for token in path)

    def _best_path(self, text: str, scores: Mapping[str, float]) -> list[str]:
        """Return the path with the largest sum of scores; of equal sums, the first one found."""
        size = len(text)
        best = [0.0] * (size + 1)
        begins = [-1] * (size + 1)  # -1: not reached yet
        for begin in range(size):
            if self._in_float and abs(best[begin]) > _LARGEST_SUM:
                _reset(best, begin, begin + self._lengths[-1])
            before = best[begin]
            for length in self._lengths:
                end = begin + length
                if end > size:
                    break
                score = scores.get(text[begin:end])
                if score is None and length > 1:
                    continue
                total = before + (self._unknown if score is None else score)
                rounded = to_float32(total)
                # For an unknown character, all releases round the sum.
                if self._in_float or score is None:
                    total = rounded
                if begins[end] < 0 or total > best[end]:
                    best[end], begins[end] = rounded, begin
        tokens: list[str] = []
        end = size
        while end > 0:
            tokens.append(text[begins[end] : end])
            end = begins[end]
        return tokens[::-1]


def _old_symbol_score(symbol: str, highest: float) -> float:
    """Return the score of a user-defined symbol before 0.2.2: -0.1 unless `highest` is above 0."""
    return to_float32(len(symbol.encode()) * max(highest, 0.0)) - 0.1


def _reset(best: list[float], begin: int, last: int) -> None:
    """Subtract the sum at `begin` from the sums up to `last`, because large sums lose precision."""
    offset = best[begin]
    best[begin : last + 1] = [to_float32(one - offset) for one in best[begin : last + 1]]


def _words(text: str) -> list[str]:
    """Return the words of a normalized text.

    A space mark always begins a word, even if the model treats white space as a suffix.
    """
    first, *others = text.split(SPACE_MARK)
    return ([first] if first else []) + [SPACE_MARK + word for word in others]


class _SymbolFinder:
    """Finds the user-defined symbols of a text: the longest one at each position."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self._beginning: dict[str, list[str]] = {}
        for piece in pieces:
            if piece.type == USER_DEFINED:
                self._beginning.setdefault(piece.text[:1], []).append(piece.text)
        for symbols in self._beginning.values():
            symbols.sort(key=len)

    def split(self, text: str) -> list[tuple[str, bool]]:
        """Split a text into user-defined symbols, marked with True, and other single characters."""
        parts = []
        at = 0
        while at < len(text):
            candidates = self._beginning.get(text[at], ())
            found = [one for one in candidates if text.startswith(one, at)][:_MOST_MATCHES]
            parts.append((found[-1], True) if found else (text[at], False))
            at += len(parts[-1][0])
        return parts
