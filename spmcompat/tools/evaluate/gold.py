"""Compares the boundaries in words with a gold list of segmented words."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from spmcompat.tools.evaluate.tokens import ratio

# MorphScore is for words of two or three morphs (a stem with a prefix, a suffix or both). They have
# one or two boundaries.
_SCORED_BOUNDARIES = (1, 2)


class GoldWord(NamedTuple):
    """A word and the offsets of its boundaries, in characters."""

    text: str
    boundaries: frozenset[int]


class GoldScores(NamedTuple):
    """Agreement of a model's boundaries with the boundaries of a gold list.

    Precision, recall and F1 count all boundaries of the list (Creutz and Linden 2004).

    MorphScore is a mean over words that have one or two gold boundaries. It usually leaves out the
    words that the model does not cut.

    Attributes
    ----------
    words : int
        The number of words in the list.
    precision, recall, f1 : float
        Of the boundaries in all words.
    mean_length : float
        The mean number of tokens in a word.
    morph_score : float
        The mean recall of the words that the model cuts.
    morph_score_precision : float
        Their mean precision: correct cuts divided by cuts.
    morph_score_token_precision : float
        Their mean of correct cuts divided by tokens. The published code for version 2 of
        MorphScore computes this, because it counts the end of the word as a cut.
    morph_score_words : int
        The number of words in these three means.
    morph_score_with_single_tokens : float
        The mean recall, where each word that the model does not cut counts 1.
    morph_score_words_with_single_tokens : int
        The number of words in this mean.
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


def score_boundaries(words: Sequence[GoldWord], parts: Sequence[Sequence[str]]) -> GoldScores:
    """Compare the gold boundaries of each word with the parts from a model."""
    return compare(words, [_boundaries(word) for word in parts])


def _boundaries(parts: Sequence[str]) -> frozenset[int]:
    return frozenset(itertools.accumulate(map(len, parts[:-1])))


def compare(words: Sequence[GoldWord], cuts: Sequence[frozenset[int]]) -> GoldScores:
    """Compare the gold boundaries of each word with the boundaries from a model."""
    hits = sum(len(word.boundaries & cut) for word, cut in zip(words, cuts, strict=True))
    precision = ratio(hits, sum(map(len, cuts)))
    recall = ratio(hits, sum(len(word.boundaries) for word in words))
    f1 = ratio(2 * hits, sum(map(len, cuts)) + sum(len(word.boundaries) for word in words))
    scorable = [
        (word.boundaries, cut)
        for word, cut in zip(words, cuts, strict=True)
        if len(word.boundaries) in _SCORED_BOUNDARIES
    ]
    scored = [(gold, cut) for gold, cut in scorable if cut]
    recalls = sum(len(gold & cut) / len(gold) for gold, cut in scored)
    return GoldScores(
        words=len(words),
        precision=precision,
        recall=recall,
        f1=f1,
        mean_length=ratio(sum(len(cut) + 1 for cut in cuts), len(words)),
        morph_score=ratio(recalls, len(scored)),
        morph_score_precision=ratio(
            sum(len(gold & cut) / len(cut) for gold, cut in scored), len(scored)
        ),
        morph_score_token_precision=ratio(
            sum(len(gold & cut) / (len(cut) + 1) for gold, cut in scored), len(scored)
        ),
        morph_score_words=len(scored),
        morph_score_with_single_tokens=ratio(recalls + len(scorable) - len(scored), len(scorable)),
        morph_score_words_with_single_tokens=len(scorable),
    )
