"""The definitions of boundary scores and of Renyi efficiency, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence

Words = Sequence[tuple[Sequence[str], Sequence[str]]]
"""The morphs and the tokens of each word."""


def ends(parts: Sequence[str]) -> list[int]:
    """Return where each part ends, in characters from the beginning of the word."""
    return [len("".join(parts[: i + 1])) for i in range(len(parts))]


def morph_scores(words: Words, *, by_tokens: bool, single_tokens: bool) -> tuple[float, float, int]:
    """Return the recall and the precision of MorphScore, and the number of scored words.

    Parameters
    ----------
    words : Words
        Words with any number of morphs. Only words with two or three morphs are scored.
    by_tokens : bool
        Whether the end of a word counts as a cut, as in the published code. If not, only the ends
        of tokens inside the word are cuts.
    single_tokens : bool
        Whether words that are a single token are scored, with a recall and precision of 1.
    """
    recalls, precisions = [], []
    for morphs, tokens in words:
        if len(morphs) not in (2, 3):
            continue
        if len(tokens) == 1:
            if single_tokens:
                recalls.append(1.0)
                precisions.append(1.0)
            continue
        cuts = ends(tokens) if by_tokens else ends(tokens)[:-1]
        found = sum(end in cuts for end in ends(morphs)[:-1])
        recalls.append(found / (len(morphs) - 1))
        precisions.append(found / len(cuts))
    if not recalls:
        return math.nan, math.nan, 0
    return sum(recalls) / len(recalls), sum(precisions) / len(recalls), len(recalls)


def renyi_efficiency(uses: Sequence[int], order: float, types: int) -> float:
    """Return the Renyi entropy in bits, divided by that of `types` equally frequent tokens."""
    shares = [use / sum(uses) for use in uses if use]
    entropy = math.log2(sum(share**order for share in shares)) / (1 - order)
    return entropy / math.log2(types)
