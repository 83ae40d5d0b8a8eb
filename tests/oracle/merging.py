"""BPE merges. Before each merge, all pairs of the text are counted again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from .characters import UNKNOWN, Options, Sentence, is_valid_piece, pretokens

Pair = tuple[str, str]


def merges(
    sentences: Iterable[Sentence], options: Options, wanted: int
) -> Iterator[tuple[str, int]]:
    """Yield each merge with the count of its pair.

    In the sentences, unknown marks replace the characters that are not required. When no pair is
    left in the text, pairs that were in the text earlier are merged, with a count of zero. This
    includes pairs that existed only for a moment during a replacement.
    """
    counted = pretokens(sentences, options)
    text = [(list(part), count) for text, count in counted for part in text.split(UNKNOWN)]
    seen: set[Pair] = set()
    merged: set[str] = set()
    while len(merged) < wanted:
        counts = count_pairs(text)
        seen |= counts.keys()
        left = [p for p in seen if "".join(p) not in merged and is_valid_piece("".join(p), options)]
        if not left:
            return
        best = min(left, key=lambda pair: (-counts[pair], len("".join(pair)), "".join(pair)))
        merged.add("".join(best))
        yield "".join(best), counts[best]
        # Replace only this pair, not other pairs with the same joined text. If its count is zero,
        # nothing is replaced, because none of these pairs occurs in the text.
        text = [(replace(symbols, best, seen), count) for symbols, count in text]


def count_pairs(text: list[tuple[list[str], int]]) -> Counter[Pair]:
    """Count the pairs of adjacent symbols, even if they overlap: "aaa" has two pairs "aa"."""
    counts: Counter[Pair] = Counter()
    for symbols, count in text:
        for pair in pairwise(symbols):
            counts[pair] += count
    return counts


def replace(symbols: list[str], pair: Pair, seen: set[Pair]) -> list[str]:
    """Merge a pair everywhere, from left to right. Add to `seen` the pairs that exist only briefly.

    Such a pair consists of a new symbol and a symbol that the next step merges into another one.
    """
    result: list[str] = []
    at = 0
    while at < len(symbols):
        if tuple(symbols[at : at + 2]) != pair:
            result.append(symbols[at])
            at += 1
            continue
        if result and result[-1] == "".join(pair):
            seen.add((result[-1], pair[0]))
        result.append("".join(pair))
        at += 2
    return result
