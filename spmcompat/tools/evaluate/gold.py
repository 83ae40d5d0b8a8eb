"""Compares the boundaries in words with a gold list of segmented words."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

# MorphScore is for words of two or three morphs (a stem with a prefix, a suffix or both). They have
# one or two boundaries.
SCORED_BOUNDARIES = (1, 2)

# The scores that count words.
_COUNTS = ("words", "morph_score_words", "morph_score_words_with_single_tokens")

_Floats = npt.NDArray[np.float64]


class GoldWord(NamedTuple):
    """A word and the offsets of its boundaries, in characters.

    Attributes
    ----------
    text : str
        The word. It may also be a phrase or a sentence without white space.
    boundaries : frozenset of int
        The offsets of its boundaries.
    stem : (int, int) or None
        Where its stem begins and ends. None if the list does not state it, or if there are several
        stems.
    """

    text: str
    boundaries: frozenset[int]
    stem: tuple[int, int] | None = None

    @property
    def affixes(self) -> str:
        """The affixes around the stem: ``prefixes``, ``suffixes`` or ``both``; "" if none."""
        begin, end = self.stem or (0, len(self.text))
        if begin > 0 and end < len(self.text):
            return "both"
        return "prefixes" if begin > 0 else "suffixes" if end < len(self.text) else ""

    def parts(self, boundaries: Collection[int]) -> list[str]:
        """Split the word at `boundaries`."""
        offsets = sorted({0, *boundaries, len(self.text)})
        return [self.text[a:b] for a, b in itertools.pairwise(offsets)]


class GoldScores(NamedTuple):
    """How well the boundaries between a model's tokens agree with the boundaries of a gold list.

    Precision, recall and F1 count all boundaries of the list (Creutz and Linden 2004).

    MorphScore is a mean over the words with one or two gold boundaries. Usually, the words that the
    model represents by a single token are left out.

    Attributes
    ----------
    words : int
        The number of words in the list.
    precision, recall, f1 : float
        The scores of the boundaries in all words of the list.
    mean_length : float
        The mean number of tokens in a word.
    morph_score : float
        The mean recall over the words that the model cuts into several tokens.
    morph_score_precision : float
        The mean precision over the same words: correct cuts divided by cuts. A word that is cut
        only inside characters has a precision of 0.
    morph_score_token_precision : float
        Correct cuts divided by tokens, as a mean over the same words. The published code of
        MorphScore, version 2, computes this as the precision, because it counts the end of the word
        as a cut.
    morph_score_words : int
        The number of words that the three means above include.
    morph_score_with_single_tokens : float
        The mean recall, in which each word that the model does not cut counts as 1.
    morph_score_words_with_single_tokens : int
        The number of words that `morph_score_with_single_tokens` includes.
    """

    words: int
    precision: float
    recall: float
    f1: float
    mean_length: float
    morph_score: float
    morph_score_precision: float
    morph_score_token_precision: float
    morph_score_words: int
    morph_score_with_single_tokens: float
    morph_score_words_with_single_tokens: int


def gold_key(figure: str, name: str, names: Collection[str]) -> str:
    """Return the name of a gold figure, as in ``gold_f1``.

    If there are several lists, the result includes the name of the list, as in
    ``gold_f1[english.tsv]``.
    """
    return f"gold_{figure}" + (f"[{name}]" if len(names) > 1 else "")


def score_boundaries(words: Sequence[GoldWord], parts: Sequence[Sequence[str]]) -> GoldScores:
    """Compute a model's scores from the texts of its tokens in each word; see `Model.cut`."""
    rows = sums_by_word(words, parts)
    scores = scores_of_sums(rows.sum(axis=0)[:, np.newaxis])
    return GoldScores._make(
        int(value) if name in _COUNTS else float(value) for name, (value,) in scores.items()
    )


def boundaries(parts: Sequence[str]) -> frozenset[int]:
    """Return the offsets in a word at which a token begins.

    Several tokens may represent one character, for example its bytes. Then only one of them has a
    text, and they have no boundaries between them.
    """
    ends = [0, *itertools.accumulate(map(len, parts))]
    return frozenset(ends) - {0, ends[-1]}


def sums_by_word(words: Sequence[GoldWord], parts: Sequence[Sequence[str]]) -> _Floats:
    """Return a row of numbers for each word. `scores_of_sums` takes the sums of these rows."""
    rows = np.zeros((len(words), 10))
    for row, word, tokens in zip(rows, words, parts, strict=True):
        gold, cut = word.boundaries, boundaries(tokens)
        hits = len(gold & cut)
        row[:5] = 1, hits, len(cut), len(gold), len(tokens)
        if len(gold) in SCORED_BOUNDARIES:
            row[5] = 1
            if len(tokens) > 1:
                row[6:] = 1, hits / len(gold), hits / max(len(cut), 1), hits / len(tokens)
    return rows


def scores_of_sums(sums: _Floats) -> dict[str, _Floats]:
    """Return the scores of one or several sets of words from their sums.

    Each row of `sums` contains the sums of one column of `sums_by_word`: one sum for each set of
    words. The scores are in the order of the fields of `GoldScores`.
    """
    words, hits, cut, gold, tokens, scorable, scored, recalls, precisions, by_tokens = sums
    return {
        "words": words,
        "precision": _ratios(hits, cut),
        "recall": _ratios(hits, gold),
        "f1": _ratios(2 * hits, cut + gold),
        "mean_length": _ratios(tokens, words),
        "morph_score": _ratios(recalls, scored),
        "morph_score_precision": _ratios(precisions, scored),
        "morph_score_token_precision": _ratios(by_tokens, scored),
        "morph_score_words": scored,
        "morph_score_with_single_tokens": _ratios(recalls + scorable - scored, scorable),
        "morph_score_words_with_single_tokens": scorable,
    }


def _ratios(part: _Floats, whole: _Floats) -> _Floats:
    """Return part / whole; NaN where the whole is 0."""
    return np.divide(part, whole, out=np.full_like(part, math.nan), where=whole != 0)
