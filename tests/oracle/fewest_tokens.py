"""Training for the fewest tokens, from its definition (MinGram, arXiv 2606.27019).

Hard EM: the number of tokens decides, and the probability breaks ties. The M-step drops unused
pieces unless they are required. A single pruning step keeps the most used pieces. Numbers are exact
here: probabilities are fractions, so sums are not rounded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

UNUSED = Fraction(1, 2)
"""The count of an unused required piece."""


class Best(NamedTuple):
    """The best segmentation, and whether another one with as many tokens is nearly as probable."""

    path: tuple[str, ...]
    close: bool


@dataclass
class Training:
    """A training run. `tie` becomes true if two segmentations were too close to choose reliably.

    Attributes
    ----------
    words : mapping of str to int
        The pretokens and their counts.
    required : set of str
        Pieces that always stay.
    margin : Fraction
        Two segmentations of n tokens are close if the ratio of their probabilities is less than
        `margin` to the power of n.
    """

    words: Mapping[str, int]
    required: set[str]
    margin: Fraction
    tie: bool = field(default=False)

    def run(
        self, seeds: Mapping[str, Fraction], size: int, steps: int, drop_unused: bool
    ) -> list[str]:
        """Return the final pieces, those with the highest probability first."""
        pieces = self.em(seeds, steps, drop_unused)
        if len(pieces) > size or not drop_unused:
            pieces = self.em(self.prune(pieces, size), steps, drop_unused)
        return sorted(pieces, key=lambda piece: (-pieces[piece], piece))

    def em(
        self, pieces: Mapping[str, Fraction], steps: int, drop_unused: bool
    ) -> dict[str, Fraction]:
        current = dict(pieces)
        for _ in range(steps):
            used: Counter[str] = Counter()
            for word, count in self.words.items():
                best = fewest_tokens(word, current, self.margin)
                self.tie |= best.close
                for piece in best.path:
                    used[piece] += count
            current = {
                piece: max(Fraction(used[piece]), UNUSED)
                for piece in current
                if used[piece] or piece in self.required or not drop_unused
            }
            total = sum(current.values())
            current = {piece: count / total for piece, count in current.items()}
        return current

    def prune(self, pieces: Mapping[str, Fraction], size: int) -> dict[str, Fraction]:
        """Keep the required pieces, then the most probable pieces; the first piece wins a tie."""
        room = size - len(self.required & pieces.keys())
        others = sorted((p for p in pieces if p not in self.required), key=lambda p: -pieces[p])
        kept = self.required | set(others[:room])
        return {piece: share for piece, share in pieces.items() if piece in kept}


def fewest_tokens(word: str, pieces: Mapping[str, Fraction], margin: Fraction) -> Best:
    """Return the most probable segmentation among those with the fewest tokens."""
    shortest: list[list[tuple[str, ...]]] = [[()]]
    for end in range(1, len(word) + 1):
        paths = [
            (*path, word[begin:end])
            for begin in range(end)
            if word[begin:end] in pieces
            for path in shortest[begin]
        ]
        fewest = min((len(path) for path in paths), default=0)
        shortest.append([path for path in paths if len(path) == fewest])
    ranked = sorted(((probability(p, pieces), p) for p in shortest[-1]), reverse=True)
    best, path = ranked[0]
    close = any(best < share * margin ** len(path) for share, _ in ranked[1:])
    return Best(path, close)


def probability(path: Sequence[str], pieces: Mapping[str, Fraction]) -> Fraction:
    product = Fraction(1)
    for piece in path:
        product *= pieces[piece]
    return product
