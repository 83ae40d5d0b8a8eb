"""The effect of a model change on a text: the words that are cut differently, and token counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from os import PathLike
from typing import NamedTuple, TypeAlias

from spmcompat.cli.tables import Table, html_of
from spmcompat.engine import open_text
from spmcompat.model.pieces import UNKNOWN
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.runtime.libraries import require

# Returns the texts of the tokens of each word.
Cut: TypeAlias = "Callable[[Sequence[str]], list[list[str]]]"

_SHOWN = 20  # the number of words to show in a notebook
_LINES = 10_000  # the number of lines or words to encode at a time
_BUFFER = 1 << 24


class ChangedWord(NamedTuple):
    """A word that two models cut differently.

    Attributes
    ----------
    word : str
        The word: the text between white space.
    occurrences : int
        How often the word occurs.
    before, after : list of str
        The texts of the word's tokens.
    """

    word: str
    occurrences: int
    before: list[str]
    after: list[str]


class Changes(NamedTuple):
    """The changes in the encoding of a text.

    Attributes
    ----------
    lines, changed_lines : int
        The number of lines, and the number of lines whose tokens changed.
    tokens_before, tokens_after : int
        The number of tokens in all lines.
    words : list of ChangedWord
        The words that are cut differently when they are between two spaces, most frequent first.
    """

    lines: int
    changed_lines: int
    tokens_before: int
    tokens_after: int
    words: list[ChangedWord]

    def __repr__(self) -> str:
        """Return the numbers of lines and tokens, without the words."""
        lines = f"{self.changed_lines:,} of {self.lines:,} lines changed"
        return f"<Changes: {lines}, {self.tokens_before:,} tokens became {self.tokens_after:,}>"

    def _repr_html_(self) -> str:
        """Return a table of the most frequent changed words, for a notebook."""
        rows = [
            (f"{one.occurrences:,}", one.word, " ".join(one.before), " ".join(one.after))
            for one in self.words[:_SHOWN]
        ]
        return html_of(Table(("count", "word", "before", "after"), rows, 4, title=repr(self)))


def _cut_of(model: ModelProto, unknown: str, between_spaces: bool = False) -> Cut:
    """Return the function that encodes texts with a model.

    Parameters
    ----------
    model : ModelProto
        The model.
    unknown : str
        The text to show for unknown tokens.
    between_spaces : bool
        Whether to encode a text as if it were between two spaces. Most models do this anyway,
        because they add a space mark before each text.
    """
    require("sentencepiece", "the report", "eval")
    from sentencepiece import SentencePieceProcessor

    own = ModelProto()
    own.CopyFrom(model)
    if between_spaces:
        own.normalizer_spec.add_dummy_prefix = True
    encoder = SentencePieceProcessor(model_proto=own.SerializeToString())
    shown = [unknown if one.type == UNKNOWN else one.piece for one in model.pieces]
    return lambda texts: [[shown[i] for i in ids] for ids in encoder.encode(list(texts))]


def compare_cuts(before: ModelProto, after: ModelProto, path: str | PathLike[str]) -> Changes:
    """Encode a text with two models, and return the differences.

    Tokens are compared by the texts of their pieces, so a token with a new id but the same text is
    not a difference.

    Raises
    ------
    TrainingError
        If the text cannot be read, or ``sentencepiece`` is not installed.
    """
    unknown = before.trainer_spec.unk_piece
    old, new = _cut_of(before, unknown), _cut_of(after, unknown)
    counts: Counter[str] = Counter()
    lines = changed = tokens_before = tokens_after = 0
    for batch in _batches(path):
        lines += len(batch)
        olds, news = old(batch), new(batch)
        tokens_before += sum(map(len, olds))
        tokens_after += sum(map(len, news))
        changed += sum(one != other for one, other in zip(olds, news, strict=True))
        for line in batch:
            counts.update(line.split())
    old, new = _cut_of(before, unknown, True), _cut_of(after, unknown, True)
    return Changes(lines, changed, tokens_before, tokens_after, changed_words(counts, old, new))


def changed_words(counts: Mapping[str, int], before: Cut, after: Cut) -> list[ChangedWord]:
    """Return the words that two functions cut differently, the most frequent first."""
    words = iter(sorted(counts))
    changed: list[ChangedWord] = []
    while batch := [*islice(words, _LINES)]:
        changed += [
            ChangedWord(word, counts[word], one, other)
            for word, one, other in zip(batch, before(batch), after(batch), strict=True)
            if one != other
        ]
    return sorted(changed, key=lambda one: -one.occurrences)


def _batches(path: str | PathLike[str]) -> Iterator[Sequence[str]]:
    """Yield the lines of a text in batches. Only a line feed ends a line."""
    with open_text(path) as file:
        while batch := file.readlines(_BUFFER):
            for begin in range(0, len(batch), _LINES):
                lines = batch[begin : begin + _LINES]
                yield [line.decode(errors="replace").removesuffix("\n") for line in lines]
