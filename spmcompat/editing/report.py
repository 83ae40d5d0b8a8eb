"""What a change of a model does to a text: the words that are cut differently, and the tokens."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

from spmcompat.errors import MissingFileError, TrainingError, refuse_impossible
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.unicode.marks import SPACE_MARK

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor

_LINES = 10_000  # lines that are encoded at once
_BUFFER = 1 << 24


class ChangedWord(NamedTuple):
    """A word that two models cut differently.

    Attributes
    ----------
    word : str
        The word: what stands between white space in the text.
    occurrences : int
        How often it occurs.
    before, after : list of str
        Its tokens.
    """

    word: str
    occurrences: int
    before: list[str]
    after: list[str]


class Changes(NamedTuple):
    """How the encoding of a text changed.

    Attributes
    ----------
    lines, changed_lines : int
        The number of lines, and of those with other tokens.
    tokens_before, tokens_after : int
        The number of tokens in all lines.
    words : list of ChangedWord
        The words that are cut differently when they stand alone, the most frequent ones first.
    """

    lines: int
    changed_lines: int
    tokens_before: int
    tokens_after: int
    words: list[ChangedWord]


def compare_cuts(before: ModelProto, after: ModelProto, path: str | PathLike[str]) -> Changes:
    """Encode a text with two models, and return what differs.

    Tokens are compared by their texts, so other ids alone are no difference.

    Raises
    ------
    MissingFileError
        If the text cannot be read.
    TrainingError
        If ``sentencepiece`` is not installed.
    """
    old, new = _processor(before), _processor(after)
    counts: Counter[str] = Counter()
    lines = changed = tokens_before = tokens_after = 0
    for batch in _batches(path):
        lines += len(batch)
        olds, news = old.encode(batch, out_type=str), new.encode(batch, out_type=str)
        tokens_before += sum(map(len, olds))
        tokens_after += sum(map(len, news))
        changed += sum(one != other for one, other in zip(olds, news, strict=True))
        for line in batch:
            counts.update(line.split())
    words = _changed_words(old, new, counts, before)
    return Changes(lines, changed, tokens_before, tokens_after, words)


def _changed_words(
    old: SentencePieceProcessor,
    new: SentencePieceProcessor,
    counts: Counter[str],
    model: ModelProto,
) -> list[ChangedWord]:
    """Return the words that are cut differently, as they are cut between two spaces."""
    words = sorted(counts)
    texts = words
    # Without a dummy prefix, a word that stands alone would have no space beside it. The space
    # mark stands for one, and is not removed at the ends of a text.
    if not model.normalizer_spec.add_dummy_prefix:
        is_suffix = model.trainer_spec.treat_whitespace_as_suffix
        texts = [word + SPACE_MARK if is_suffix else SPACE_MARK + word for word in words]
    changed = [
        ChangedWord(word, counts[word], one, other)
        for word, one, other in zip(
            words, old.encode(texts, out_type=str), new.encode(texts, out_type=str), strict=True
        )
        if one != other
    ]
    return sorted(changed, key=lambda one: -one.occurrences)


def _processor(model: ModelProto) -> SentencePieceProcessor:
    try:
        from sentencepiece import SentencePieceProcessor  # noqa: PLC0415
    except ModuleNotFoundError:
        raise TrainingError(
            "the report needs sentencepiece, which is not installed: pip install 'spmcompat[eval]'."
        ) from None
    return SentencePieceProcessor(model_proto=model.SerializeToString())


def _batches(path: str | PathLike[str]) -> Iterator[Sequence[str]]:
    """Yield the lines of a text, some at a time. Only a line feed ends a line."""
    refuse_impossible(path, "check --report")
    try:
        with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
            while batch := file.readlines(_BUFFER):
                for begin in range(0, len(batch), _LINES):
                    yield [line.rstrip("\r\n") for line in batch[begin : begin + _LINES]]
    except OSError as error:
        raise MissingFileError(f'"{os.fspath(path)}": {error.strerror}. Check --report.') from error
