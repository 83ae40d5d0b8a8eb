"""The choice between merges and characters, by trying each number of merges.

A *cut* keeps the first merges, and fills the remaining size with characters. Its gain is computed
from scratch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def choose(merges: Sequence[tuple[str, int]], counts: Mapping[str, int], size: int) -> list[str]:
    """Return the best selection of merges and characters. The one with more merges wins a tie."""
    cuts = [_cut(merges[:kept], counts, size) for kept in range(len(merges) + 1)]
    _, best = max((saved, kept) for kept, (saved, pieces) in enumerate(cuts) if len(pieces) <= size)
    return cuts[best][1]


def _cut(
    merges: Sequence[tuple[str, int]], counts: Mapping[str, int], size: int
) -> tuple[int, list[str]]:
    """Return the gain and the pieces of a cut: more than `size` pieces if the cut does not fit."""

    def gain(character: str) -> int:
        return counts[character] * (len(character.encode()) - 1)

    needed = sorted({character for text, _ in merges for character in text})
    others = sorted(
        (c for c in counts if gain(c) > 0 and c not in needed),
        key=lambda c: (-gain(c), -counts[c], c),
    )
    others = others[: max(size - len(merges) - len(needed), 0)]
    saved = sum(count for _, count in merges) + sum(map(gain, [*needed, *others]))
    return saved, [*(text for text, _ in merges), *needed, *others]
