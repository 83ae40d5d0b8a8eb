"""Boundaries against a gold list of segmented words."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from os import PathLike
from typing import NamedTuple

from spmcompat.errors import BadValueError, MissingFileError, refuse_impossible
from spmcompat.tools.evaluate.tokens import ratio

# One to three morphs, prefix? stem suffix?, leave one or two boundaries to score.
_SCORED_BOUNDARIES = (1, 2)


class GoldWord(NamedTuple):
    """A word and the offsets (in characters) at which it should be cut."""

    text: str
    boundaries: frozenset[int]


class GoldScores(NamedTuple):
    """How the boundaries of a model agree with those of a gold list.

    Precision, recall and F1 are over all boundaries of the list (Creutz and Linden 2004).
    MorphScore is over words with one or two boundaries that the model cuts at all: the mean
    share of their boundaries that it finds, and of its boundaries that are right.
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
    """Read lines of ``word<TAB>morph morph ...``; a word that comes again counts once.

    Raises
    ------
    BadValueError
        If a line has another form, its morphs do not make up the word, or there is none.
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
        raise BadValueError(f"{path} holds no word. Give lines of word, tab, morphs.")
    return list(words.values())


def _gold_word(line: str, place: str) -> GoldWord:
    word, tab, morphs = line.partition("\t")
    parts = morphs.split()
    if not tab or not word or not parts:
        raise BadValueError(f"{place}: expected a word, a tab and its morphs, found {line!r}.")
    if "".join(parts) != word:
        raise BadValueError(f"{place}: the morphs {morphs!r} do not make up the word {word!r}.")
    return GoldWord(word, frozenset(itertools.accumulate(map(len, parts[:-1]))))


def score_boundaries(words: Sequence[GoldWord], parts: Sequence[Sequence[str]]) -> GoldScores:
    """Compare the gold boundaries of each word with where a model cuts it into parts."""
    return compare(words, [_cut(word) for word in parts])


def _cut(parts: Sequence[str]) -> frozenset[int]:
    return frozenset(itertools.accumulate(map(len, parts[:-1])))


def compare(words: Sequence[GoldWord], cuts: Sequence[frozenset[int]]) -> GoldScores:
    """Compare the predicted boundaries of each word with the gold ones."""
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
