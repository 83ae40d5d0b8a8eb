"""Which pieces can be used, given how ``sentencepiece`` normalizes and cuts a text.

A piece is *reachable* if it is a token of some text. For every type of model, this is true if and
only if the piece's own text is cut into just this piece:

- BPE: the merges inside a piece are those of its own text, in the same order, whatever surrounds
  it, because a merge across its ends would have prevented the piece.
- Unigram: each part of a best path is a best path for the text of that part. So a piece on a best
  path is the best path of its own text.

Source: ``bpe_model.cc``, ``unigram_model.cc`` and ``normalizer.cc`` of ``sentencepiece`` 0.2.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from typing import Protocol

from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.tools.edit.vocabulary import NORMAL, UNUSED, USER_DEFINED, Piece
from spmcompat.unicode.marks import SPACE_MARK

_UNKNOWN_PENALTY = 10.0


class Cutter(Protocol):
    """Cuts normalized texts as a model does."""

    def cut(self, text: str) -> list[str]:
        """Return the tokens of a normalized text. An unknown character is a token."""


def cutter_of(pieces: Iterable[Piece], trainer: TrainerSpec) -> Cutter:
    """Return an object that cuts texts as a model with these pieces does."""
    if trainer.model_type == TrainerSpec.BPE:
        return Merges(pieces)
    if trainer.model_type == TrainerSpec.UNIGRAM:
        return BestPaths(pieces)
    if trainer.model_type == TrainerSpec.CHAR:
        return _Characters(pieces)
    return _Words()


def unreachable(
    pieces: Iterable[Piece], trainer: TrainerSpec, among: Iterable[str] | None = None
) -> list[str]:
    """Return the normal pieces that cannot be a token of any text, in the order of their ids.

    Parameters
    ----------
    pieces : iterable of Piece
        The vocabulary.
    trainer : TrainerSpec
        The options of the model.
    among : iterable of str, optional
        The texts of the pieces to check; by default all pieces.
    """
    pieces = list(pieces)
    cutter = cutter_of(pieces, trainer)
    wanted = None if among is None else set(among)
    return [
        piece.text
        for piece in pieces
        if piece.type == NORMAL
        and (wanted is None or piece.text in wanted)
        and cutter.cut(piece.text) != [piece.text]
    ]


def holding(pieces: Iterable[Piece], texts: Iterable[str]) -> list[str]:
    """Return the texts of the normal pieces that contain one of the texts.

    Whether a piece is reachable depends only on the pieces inside it. So if the pieces of `texts`
    change, only the returned pieces can become unreachable.
    """
    wanted = set(texts)
    lengths = sorted({len(text) for text in wanted})
    return [
        piece.text
        for piece in pieces
        if piece.type == NORMAL and _holds(piece.text, wanted, lengths)
    ]


def _holds(text: str, wanted: set[str], lengths: Iterable[int]) -> bool:
    """Return whether a text contains one of the wanted texts, which have the given lengths."""
    return any(
        text[begin : begin + length] in wanted
        for length in lengths
        for begin in range(len(text) - length + 1)
    )


class Merges:
    """Cuts texts as a BPE model does.

    Parameters
    ----------
    pieces : iterable of Piece
        The vocabulary.
    """

    def __init__(self, pieces: Iterable[Piece]) -> None:
        pieces = list(pieces)
        # Unused pieces are merged too, and split again at the end.
        self.scores = {p.text: p.score for p in pieces if p.type in (NORMAL, UNUSED)}
        self._longest = max(map(len, self.scores), default=0)
        self._unused = {p.text for p in pieces if p.type == UNUSED}
        self._symbols = _Symbols(pieces)

    def cut(self, text: str) -> list[str]:
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
        symbols = [one for one, _ in split]  # a symbol merged into the previous one is empty
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
            if (score := self.scores.get(joined)) is not None:
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


class BestPaths:
    """Cuts texts as a Unigram model does.

    Parameters
    ----------
    pieces : iterable of Piece
        The vocabulary.
    """

    def __init__(self, pieces: Iterable[Piece]) -> None:
        pieces = list(pieces)
        self._scores = {p.text: p.score for p in pieces if p.type == NORMAL}
        self._unknown = min(self._scores.values(), default=0.0) - _UNKNOWN_PENALTY
        for piece in pieces:
            if piece.type == USER_DEFINED:
                self._scores[piece.text] = 0.1 * (len(piece.text.encode()) - 1)
        self._lengths = sorted({1, *map(len, self._scores)})

    def cut(self, text: str) -> list[str]:
        """Return the tokens of a normalized text."""
        return self._best(text, "")[1]

    def score_without(self, text: str) -> float:
        """Return the score of the best path for a piece's own text that does not use the piece."""
        return self._best(text, text)[0]

    def _best(self, text: str, barred: str) -> tuple[float, list[str]]:
        """Return the best path of a text that does not use the piece `barred`, and its score."""
        scores = self._scores
        size = len(text)
        best = [0.0] + [-float("inf")] * size
        begins = [0] * (size + 1)
        for begin in range(size):
            before = best[begin]
            for length in self._lengths:
                end = begin + length
                if end > size:
                    break
                one = text[begin:end]
                score = scores.get(one)
                if score is None or one == barred:
                    if length > 1:
                        continue
                    score = self._unknown
                # As in sentencepiece, the path with the earlier beginning wins a tie.
                if before + score > best[end]:
                    best[end] = before + score
                    begins[end] = begin
        tokens: list[str] = []
        end = size
        while end > 0:
            tokens.append(text[begins[end] : end])
            end = begins[end]
        return best[size], tokens[::-1]


class _Characters:
    """Cuts texts as a char model does."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self._symbols = _Symbols(pieces)

    def cut(self, text: str) -> list[str]:
        return [one for one, _ in self._symbols.split(text)]


class _Words:
    """Cuts texts as a word model does: a space mark begins a word."""

    def cut(self, text: str) -> list[str]:
        first, *others = text.split(SPACE_MARK)
        return ([first] if first else []) + [SPACE_MARK + word for word in others]


class _Symbols:
    """Finds the user-defined symbols of a text: the longest one at each position."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self._beginning: dict[str, list[str]] = {}
        for piece in pieces:
            if piece.type == USER_DEFINED:
                self._beginning.setdefault(piece.text[:1], []).append(piece.text)
        for symbols in self._beginning.values():
            symbols.sort(key=len, reverse=True)

    def split(self, text: str) -> list[tuple[str, bool]]:
        """Return the symbols and the other characters, and whether each is a symbol."""
        return list(self._split(text))

    def _split(self, text: str) -> Iterator[tuple[str, bool]]:
        at = 0
        while at < len(text):
            candidates = self._beginning.get(text[at], ())
            found = next((one for one in candidates if text.startswith(one, at)), "")
            yield (found, True) if found else (text[at], False)
            at += len(found) or 1


class Gate:
    """Decides which pieces can pass a normalizer, that is, occur in some normalized text.

    Parameters
    ----------
    model : ModelProto
        The model with the normalizer.
    """

    def __init__(self, model: ModelProto) -> None:
        from spmcompat.normalization.charsmaps import Normalizer  # noqa: PLC0415

        spec = model.normalizer_spec
        self._charsmap = spec.precompiled_charsmap
        self._collapses = spec.remove_extra_whitespaces
        self._space = SPACE_MARK if spec.escape_whitespaces else " "
        self._rules_only = Normalizer(
            self._charsmap,
            add_dummy_prefix=False,
            remove_extra_whitespaces=False,
            escape_whitespaces=spec.escape_whitespaces,
        )

    def lets_through(self, text: str) -> bool:
        """Return whether a normalized text can contain this text."""
        if self._space == SPACE_MARK and " " in text:
            return False
        if self._collapses and self._space * 2 in text:
            return False
        if self.normalized(text) == text:
            return True
        return any(text in self.normalized(source) for source in self._sources(text))

    def reason(self, text: str) -> str:
        """Return why a text cannot pass the normalizer, and what to do."""
        if self._space == SPACE_MARK and " " in text:
            remedy = text.replace(" ", SPACE_MARK)
            return f"normalized text has U+2581 instead of a space. Write {remedy}"
        if self._collapses and self._space * 2 in text:
            return "the normalizer collapses spaces. Write U+2581 once."
        return (
            f"the normalizer makes {self.normalized(text)!r} of it. Give that text, or add a "
            "user-defined symbol, which is not normalized."
        )

    def normalized(self, text: str) -> str:
        """Return the text after applying the rules, without collapsing spaces."""
        source = text.replace(SPACE_MARK, " ") if self._space == SPACE_MARK else text
        return self._rules_only.normalize(source.encode()).decode()

    def _sources(self, text: str) -> list[str]:
        """Return texts that the rules may turn into this text, or into one that contains it.

        The output of a rule is not normalized again. So a rule may produce text that another rule
        would change: with ``a -> b`` and ``b -> c``, the text ``a`` becomes ``b``.
        """
        from spmcompat.normalization.charsmaps import decompile  # noqa: PLC0415

        wanted = text.replace(SPACE_MARK, " ") if self._space == SPACE_MARK else text
        rules = {
            "".join(map(chr, source)): "".join(map(chr, target))
            for source, target in decompile(self._charsmap).items()
            if target
        }
        whole = [source for source, target in rules.items() if wanted in target]
        # The sources that produce the characters from one position to another.
        made_by: dict[tuple[int, int], list[str]] = {}
        for source, target in rules.items():
            for span in _spans(target, wanted):
                made_by.setdefault(span, []).append(source)
        found: list[list[str]] = [[""], *([] for _ in wanted)]
        for end in range(1, len(wanted) + 1):
            texts = [head + wanted[end - 1] for head in found[end - 1]]
            for begin in range(end):
                for source in made_by.get((begin, end), ())[:_TRIED]:
                    texts += [head + source for head in found[begin]]
            found[end] = list(dict.fromkeys(texts))[:_KEPT]
        return [*whole[:_TRIED], *found[-1]]


def _spans(target: str, wanted: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of a text that the result of a rule can cover.

    At the beginning of the text, the end of the result suffices; at its end, the beginning.
    """
    size, length = len(wanted), len(target)
    begin = wanted.find(target)
    while begin >= 0:
        yield begin, begin + length
        begin = wanted.find(target, begin + 1)
    for part in range(1, min(length, size)):
        if target.endswith(wanted[:part]):
            yield 0, part
        if target.startswith(wanted[-part:]):
            yield size - part, size


# How many sources to try for one result, and how many texts for each beginning.
_TRIED = 4
_KEPT = 256
