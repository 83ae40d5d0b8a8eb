"""Groups gold words by the models that find their boundaries (Land and Pinter, Table 7).

As in MorphScore, only words with one or two boundaries count, and a model finds the boundaries of a
word if it cuts the word at all of them. A word is compared only if no model keeps it whole, because
MorphScore does not count a whole word as right or wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spmcompat.tools.evaluate.bootstrap import Bootstrap, Interval, draws, interval
from spmcompat.tools.evaluate.gold import SCORED_BOUNDARIES, GoldWord
from spmcompat.tools.evaluate.tokens import ratio

_EXAMPLES = 3
# The groups of the words that are not compared.
WHOLE = "a single token in every model"
SOME_WHOLE = "a single token in some models"
UNSCORED = "no boundary, or more than two"
NOT_COMPARED = (SOME_WHOLE, WHOLE, UNSCORED)

_Cuts = Sequence[Sequence[frozenset[int]]]


class Example(NamedTuple):
    """An example word: its share of the text, and how the gold list and each model split it."""

    word: str
    share: float
    gold: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]


class GoldGroup(NamedTuple):
    """The words whose boundaries the same models find.

    Attributes
    ----------
    name : str
        The models that find the boundaries, as in ``only bpe``; or one of `NOT_COMPARED`.
    words : int
        The number of words.
    share : float
        How often these words occur in the text, divided by the number of words in the text. NaN if
        the text has no words.
    examples : tuple of Example
        The words of the group that are most frequent in the text, the most frequent first.
    words_interval, share_interval : Interval or None
        Confidence intervals from resamples of the gold words.
    """

    name: str
    words: int
    share: float
    examples: tuple[Example, ...]
    words_interval: Interval | None = None
    share_interval: Interval | None = None


class WordCounts(NamedTuple):
    """How often words occur in a text, and the number of all words in the text."""

    counts: Counter[str]
    total: int


def count_listed_words(lines: Iterable[bytes], wanted: frozenset[str]) -> WordCounts:
    """Count words in lines of UTF-8. Words are the parts of a line between white space."""
    counts: Counter[str] = Counter()
    total = 0
    for line in lines:
        words = line.decode(errors="replace").split()
        total += len(words)
        counts.update(word for word in words if word in wanted)
    return WordCounts(counts, total)


def group_words(
    words: Sequence[GoldWord],
    models: Sequence[str],
    cuts: _Cuts,
    text: WordCounts,
    bootstrap: Bootstrap | None = None,
) -> list[GoldGroup]:
    """Group gold words by the models that find their boundaries.

    Parameters
    ----------
    words : sequence of GoldWord
        The words of a gold list.
    models : sequence of str
        The names of the models.
    cuts : sequence of sequences of frozenset of int
        For each model and word, the offsets at which the model cuts the word.
    text : WordCounts
        The words of a text.
    bootstrap : Bootstrap, optional
        Compute confidence intervals with these settings. A resample draws as many gold words as the
        list has.

    Returns
    -------
    list of GoldGroup
        First the words whose boundaries all models find; then, for each model, those whose
        boundaries only this model finds; then those whose boundaries no model finds. These groups
        may be empty. They are followed by all other combinations of models that occur, the largest
        group first, and by the words that are not compared.
    """
    names = [_name(word, [cut[i] for cut in cuts], models) for i, word in enumerate(words)]
    sizes = Counter(names)
    fixed = list(dict.fromkeys([_label(models, models), *(_label([m], models) for m in models)]))
    fixed.append(_label([], models))
    last = [name for name in NOT_COMPARED if sizes[name]]
    others = sorted(sizes.keys() - {*fixed, *last}, key=lambda name: (-sizes[name], name))
    order = [*fixed, *others, *last]
    number = {name: i for i, name in enumerate(order)}
    group_of = np.array([number[name] for name in names], dtype=np.int64)
    uses = np.array([text.counts[word.text] for word in words], dtype=np.float64)
    by_use = sorted(range(len(words)), key=lambda i: (-uses[i], words[i].text))
    members: list[list[int]] = [[] for _ in order]
    for i in by_use:
        members[group_of[i]].append(i)
    bounds = _intervals(group_of, uses, len(order), text.total, bootstrap)
    return [
        GoldGroup(
            name,
            len(found),
            ratio(float(uses[found].sum()), text.total),
            tuple(
                Example(
                    words[i].text,
                    ratio(float(uses[i]), text.total),
                    tuple(words[i].parts(words[i].boundaries)),
                    tuple(tuple(words[i].parts(cut[i])) for cut in cuts),
                )
                for i in found[:_EXAMPLES]
            ),
            *both,
        )
        for name, found, both in zip(order, members, bounds, strict=True)
    ]


def _name(word: GoldWord, cuts: Sequence[frozenset[int]], models: Sequence[str]) -> str:
    """Return the name of the group of a word."""
    if len(word.boundaries) not in SCORED_BOUNDARIES:
        return UNSCORED
    if not all(cuts):
        return SOME_WHOLE if any(cuts) else WHOLE
    found = [m for m, cut in zip(models, cuts, strict=True) if word.boundaries <= cut]
    return _label(found, models)


def _label(found: Sequence[str], models: Sequence[str]) -> str:
    """Return the name of the group of words whose boundaries only the models `found` find."""
    missing = [model for model in models if model not in found]
    if not found:
        return "none"
    if not missing:
        return "all"
    if len(found) == 1:
        return f"only {found[0]}"
    if len(missing) < len(found):
        return f"all but {', '.join(missing)}"
    return ", ".join(found)


def _intervals(
    group_of: npt.NDArray[np.int64],
    uses: npt.NDArray[np.float64],
    groups: int,
    total: int,
    bootstrap: Bootstrap | None,
) -> list[tuple[Interval | None, Interval | None]]:
    """Return two intervals for each group: one for the number of words, and one for the share."""
    if bootstrap is None:
        return [(None, None)] * groups
    words = np.empty((bootstrap.resamples, groups))
    shares = np.empty((bootstrap.resamples, groups))
    for i, drawn in enumerate(draws(len(group_of), bootstrap)):
        words[i] = np.bincount(group_of[drawn], minlength=groups)
        used = np.bincount(group_of[drawn], uses[drawn], groups)
        shares[i] = used / total if total else np.nan
    level = bootstrap.confidence
    return [(interval(words[:, i], level), interval(shares[:, i], level)) for i in range(groups)]
