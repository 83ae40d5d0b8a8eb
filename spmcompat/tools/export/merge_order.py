"""Orders BPE pieces with equal scores, so that a list of merges does the same as sentencepiece.

Of two possible merges with the same score, ``sentencepiece`` applies the one on the left first.
With a list of merges, the one that comes first in the list is applied first, wherever it is.

After a merge, the new piece may at once become part of longer pieces, if their scores are not
lower. So it takes neighbours from the left and from the right, before the other merge is applied.
Let P and Q be pieces with the same score, P on the left of Q in a text. The order of the two merges
makes a difference only in these cases:

- P contains the left part of Q, or takes it from the right.
- Q contains the right part of P, or takes it from the left.
- Q takes P from the left, or what P has become, or what P would take from the right.

So if P comes before Q in the list in all these cases, the result is the same for all texts. If
there is no such order, some pieces come before others that should precede them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

Parts: TypeAlias = "Mapping[str, Sequence[tuple[str, str]]]"


class _Longer(NamedTuple):
    """A longer piece that a piece is a part of, and the other part."""

    text: str
    other: str
    is_right: bool  # whether the other part is on the right


class _Condition(NamedTuple):
    """A reason why certain other pieces have to come before a piece.

    The condition is shared by all pieces that have this left part, or that take this text from the
    left.
    """

    part: str
    is_left_part: bool


def longer_pieces(parts: Parts) -> dict[str, list[_Longer]]:
    """Return the longer pieces that each piece is a part of.

    Parameters
    ----------
    parts : mapping
        For each piece, all ways to split it into two pieces.
    """
    longer: defaultdict[str, list[_Longer]] = defaultdict(list)
    for text, pairs in parts.items():
        for left, right in pairs:
            longer[left].append(_Longer(text, right, is_right=True))
            longer[right].append(_Longer(text, left, is_right=False))
    return longer


def order(
    group: Sequence[str],
    parts: Parts,
    longer: Mapping[str, Sequence[_Longer]],
    scores: Mapping[str, float],
) -> tuple[list[str], list[str]]:
    """Order pieces with the same score.

    Parameters
    ----------
    group : sequence of str
        All pieces with this score that merges can produce.
    parts : mapping
        For each piece, all ways to split it into two pieces.
    longer : mapping
        The result of `longer_pieces`.
    scores : mapping
        The scores of all pieces.

    Returns
    -------
    ordered : list of str
        The pieces. Where there is a choice, they are in the given order.
    misplaced : list of str
        The pieces that precede a piece that should come before them.
    """
    if len(group) == 1:
        return list(group), []
    needed: dict[str, list[_Condition]] = {}  # the conditions that each piece has
    earlier: defaultdict[_Condition, set[str]] = defaultdict(set)  # the pieces that come before
    for text in group:
        made, lefts, rights = _taken(text, longer, scores)
        own_left, own_right = ({pair[side] for pair in parts[text]} for side in (0, 1))
        needed[text] = [
            *(_Condition(part, is_left_part=True) for part in own_left),
            *(_Condition(part, is_left_part=False) for part in lefts),
        ]
        for part in own_right | rights:
            earlier[_Condition(part, is_left_part=True)].add(text)
        for part in own_right | rights | made:
            earlier[_Condition(part, is_left_part=False)].add(text)
    return _sorted(needed, earlier)


def _taken(
    text: str, longer: Mapping[str, Sequence[_Longer]], scores: Mapping[str, float]
) -> tuple[set[str], set[str], set[str]]:
    """Return what a new piece can become, and what it then takes from the left and from the right.

    It becomes part of longer pieces if their scores are not lower.
    """
    lefts, rights = set[str](), set[str]()
    found, waiting = {text}, [text]
    while waiting:
        for one in longer.get(waiting.pop(), ()):
            if scores[one.text] >= scores[text]:
                (rights if one.is_right else lefts).add(one.other)
                if one.text not in found:
                    found.add(one.text)
                    waiting.append(one.text)
    return found, lefts, rights


def _sorted(
    needed: Mapping[str, Sequence[_Condition]], earlier: Mapping[_Condition, set[str]]
) -> tuple[list[str], list[str]]:
    """Sort pieces topologically, and return those that cannot be sorted, too.

    Of the pieces that may be next, the first one is next. If there is none, the first remaining
    piece is next. A piece need not come before itself.
    """
    group = list(needed)
    rank = {text: index for index, text in enumerate(group)}
    unmet = {
        text: {one for one in conditions if earlier.get(one, set()) - {text}}
        for text, conditions in needed.items()
    }
    having: defaultdict[_Condition, list[str]] = defaultdict(list)
    before: defaultdict[str, list[_Condition]] = defaultdict(list)
    for text, conditions in needed.items():
        for condition in conditions:
            having[condition].append(text)
    for condition, texts in earlier.items():
        for text in texts:
            before[text].append(condition)
    ready = [rank[text] for text in group if not unmet[text]]
    ordered, misplaced = list[str](), list[str]()
    while unmet:
        text = group[heappop(ready)] if ready else next(iter(unmet))
        if unmet.pop(text):
            misplaced.append(text)
        ordered.append(text)
        for condition in before[text]:
            earlier[condition].discard(text)
            rest = earlier[condition]
            for one in (rest if rest else having[condition]) if len(rest) <= 1 else ():
                conditions_left = unmet.get(one, set())
                if condition in conditions_left:
                    conditions_left.discard(condition)
                    if not conditions_left:
                        heappush(ready, rank[one])
    return ordered, misplaced
