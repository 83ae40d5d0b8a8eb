"""Finds the pieces that can be used when ``sentencepiece`` normalizes and cuts a text.

A piece is *reachable* if it is a token of some text. For every type of model, this is true if and
only if the piece's own text is cut into just this piece:

- BPE: in any text with this token, the characters of the token are merged as in the piece's own
  text. The characters around it make no difference: if they were merged with a part of the piece,
  the piece would not become a token.
- Unigram: if a path is the best one for a text, then each part of the path is the best one for its
  part of the text. So if a piece is on a best path, it is also the best path for its own text,
  apart from rounding.

Source: ``bpe_model.cc``, ``unigram_model.cc`` and ``normalizer.cc`` of ``sentencepiece`` 0.2.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from spmcompat.engine import SPACE_MARK
from spmcompat.model.encoding import encoder_of
from spmcompat.model.pieces import NORMAL, Piece
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec


def unreachable(
    pieces: Iterable[Piece], trainer: TrainerSpec, among: Iterable[str] | None = None
) -> list[str]:
    """Return the normal pieces that cannot be a token of any text, sorted by id.

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
    encode = encoder_of(pieces, trainer)
    chosen = None if among is None else set(among)
    return [
        piece.text
        for piece in pieces
        if piece.type == NORMAL
        and (chosen is None or piece.text in chosen)
        and encode(piece.text) != [piece.text]
    ]


def containing(pieces: Iterable[Piece], texts: Iterable[str]) -> list[str]:
    """Return the normal pieces whose texts contain one of `texts`.

    If the pieces with the given `texts` change, only the returned pieces can become unreachable:
    whether a piece is reachable depends only on pieces whose texts occur in its own text.
    """
    others = set(texts)
    lengths = sorted({len(text) for text in others})
    return [
        piece.text
        for piece in pieces
        if piece.type == NORMAL and _contains_any(piece.text, others, lengths)
    ]


def _contains_any(text: str, others: set[str], lengths: Iterable[int]) -> bool:
    """Return whether a text contains one of `others`, whose lengths are `lengths`."""
    return any(
        text[begin : begin + length] in others
        for length in lengths
        for begin in range(len(text) - length + 1)
    )


class Gate:
    """Decides whether a piece can occur in normalized text, for one normalizer.

    Parameters
    ----------
    model : ModelProto
        The model with the normalizer.
    """

    def __init__(self, model: ModelProto) -> None:
        from spmcompat.engine import Normalizer

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
        """Return whether some normalized text contains this text."""
        if self._space == SPACE_MARK and " " in text:
            return False
        if self._collapses and self._space * 2 in text:
            return False
        if self.normalized(text) == text:
            return True
        return any(text in self.normalized(source) for source in self._sources(text))

    def reason(self, text: str) -> str:
        """Explain why no normalized text contains this text, and what to do about it."""
        if self._space == SPACE_MARK and " " in text:
            remedy = text.replace(" ", SPACE_MARK)
            return f"normalized text has U+2581 instead of a space. Write {remedy}"
        if self._collapses and self._space * 2 in text:
            return "the normalizer collapses spaces. Write U+2581 once."
        return (
            f"the normalizer changes it to {self.normalized(text)!r}. Give that text, or add a "
            "user-defined symbol, which is not normalized."
        )

    def normalized(self, text: str) -> str:
        """Apply the normalization rules to a text, but do not collapse spaces."""
        source = text.replace(SPACE_MARK, " ") if self._space == SPACE_MARK else text
        return self._rules_only.normalize(source.encode()).decode()

    def _sources(self, text: str) -> list[str]:
        """Return texts that the rules may turn into this text, or into a text that contains it.

        A text may occur in normalized text although a rule changes it, because the output of a rule
        is not normalized again: with ``a -> b`` and ``b -> c``, the text ``a`` becomes ``b``, which
        stays.
        """
        from spmcompat.engine import decompile

        result = text.replace(SPACE_MARK, " ") if self._space == SPACE_MARK else text
        rules = {
            "".join(map(chr, source)): "".join(map(chr, target))
            for source, target in decompile(self._charsmap).items()
            if target
        }
        whole = [source for source, target in rules.items() if result in target]
        # For each pair of positions in `result`, the sources of the rules that can produce the text
        # between the two positions.
        made_by: dict[tuple[int, int], list[str]] = {}
        for source, target in rules.items():
            for span in _spans(target, result):
                made_by.setdefault(span, []).append(source)
        by_end: list[list[str]] = [[""], *([] for _ in result)]
        for end in range(1, len(result) + 1):
            texts = [head + result[end - 1] for head in by_end[end - 1]]
            for begin in range(end):
                for source in made_by.get((begin, end), ())[:_TRIED]:
                    texts += [head + source for head in by_end[begin]]
            by_end[end] = list(dict.fromkeys(texts))[:_KEPT]
        return [*whole[:_TRIED], *by_end[-1]]


def _spans(target: str, result: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of `result` that `target`, the output of a rule, can fill.

    A span at the beginning of `result` may contain only the end of `target`, and a span at the end
    of `result` only the beginning of `target`.
    """
    size, length = len(result), len(target)
    begin = result.find(target)
    while begin >= 0:
        yield begin, begin + length
        begin = result.find(target, begin + 1)
    for part in range(1, min(length, size)):
        if target.endswith(result[:part]):
            yield 0, part
        if target.startswith(result[-part:]):
            yield size - part, size


# For each span of a text, `Gate` tries at most this many rules that can produce the span.
_TRIED = 4
# For each prefix of a text, `Gate` keeps at most this many sources that may become the prefix.
_KEPT = 256
