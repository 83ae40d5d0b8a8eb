"""Compares the boundaries in words with a gold list of segmented words."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from os import PathLike
from typing import NamedTuple

from spmcompat.errors import BadValueError, MissingFileError, refuse_impossible
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

    MorphScore uses only words that have one or two gold boundaries and that the model cuts into at
    least two parts. It is the mean recall of these words. `morph_score_precision` is their mean
    precision.
    """

    words: int
    precision: float
    recall: float
    f1: float
    mean_length: float
    morph_score: float
    morph_score_precision: float
    morph_score_words: int


def read_gold(path: str | PathLike[str]) -> list[GoldWord]:
    """Read lines of ``word<TAB>morph morph ...``; only the first line of a word counts.

    Raises
    ------
    BadValueError
        If a line has a different form, if its morphs are not the word, or if there is no line.
    MissingFileError
        If the file cannot be read.
    """
    words: dict[str, GoldWord] = {}
    refuse_impossible(path, "check --gold")
    try:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    word = _gold_word(line.rstrip("\r\n"), f"{path}:{number}")
                    words.setdefault(word.text, word)
    except OSError as error:
        raise MissingFileError(f"{path}: {error.strerror}: check --gold.") from error
    except UnicodeDecodeError as error:
        raise BadValueError(f"{path} is not UTF-8: {error.reason}.") from None
    if not words:
        raise BadValueError(f"{path} contains no words. Write lines of word, tab, morphs.")
    return list(words.values())


def _gold_word(line: str, source: str) -> GoldWord:
    word, tab, morphs = line.partition("\t")
    parts = morphs.split()
    if not tab or not word or not parts:
        raise BadValueError(f"{source}: expected a word, a tab and its morphs, found {line!r}.")
    if "".join(parts) != word:
        raise BadValueError(
            f"{source}: the morphs {morphs!r} are not the parts of the word {word!r}."
        )
    return GoldWord(word, frozenset(itertools.accumulate(map(len, parts[:-1]))))


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
    scored = [
        (word.boundaries, cut)
        for word, cut in zip(words, cuts, strict=True)
        if cut and len(word.boundaries) in _SCORED_BOUNDARIES
    ]
    return GoldScores(
        words=len(words),
        precision=precision,
        recall=recall,
        f1=f1,
        mean_length=ratio(sum(len(cut) + 1 for cut in cuts), len(words)),
        morph_score=ratio(sum(len(gold & cut) / len(gold) for gold, cut in scored), len(scored)),
        morph_score_precision=ratio(
            sum(len(gold & cut) / len(cut) for gold, cut in scored), len(scored)
        ),
        morph_score_words=len(scored),
    )
