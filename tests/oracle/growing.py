"""BPE on top of a model: encode with its pieces, then merge on; and which pieces need others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from .characters import UNKNOWN, Options, Sentence, is_valid_piece, pretokens
from .merging import count_pairs, replace


def encode(text: str, scores: Mapping[str, float]) -> list[str]:
    """Merge the neighbours whose text has the highest score, the leftmost of equals, and again."""
    symbols = list(text)
    while True:
        joined = [left + right for left, right in pairwise(symbols)]
        found = [(-scores[text], at) for at, text in enumerate(joined) if text in scores]
        if not found:
            return symbols
        _, at = min(found)
        symbols[at : at + 2] = [joined[at]]


def extending_merges(
    sentences: Iterable[Sentence], options: Options, scores: Mapping[str, float], wanted: int
) -> Iterator[tuple[str, int]]:
    """Yield the merges of covered sentences after those of a model, each with its count."""
    counted = pretokens(sentences, options)
    text = [
        (encode(part, scores), count) for text, count in counted for part in text.split(UNKNOWN)
    ]
    known = set(scores)
    for _ in range(wanted):
        counts = {
            pair: count
            for pair, count in count_pairs(text).items()
            if "".join(pair) not in known and is_valid_piece("".join(pair), options)
        }
        if not counts:
            return
        best = min(counts, key=lambda pair: (-counts[pair], len("".join(pair)), "".join(pair)))
        known.add("".join(best))
        yield "".join(best), counts[best]
        text = [(replace(symbols, best, set()), count) for symbols, count in text]


def parts(piece: str, scores: Mapping[str, float]) -> list[str]:
    """Return the two symbols whose merge makes the piece; more if its merges do not reach it."""
    return encode(piece, {text: score for text, score in scores.items() if text != piece})


def trimmed_by_leaves(
    scores: Mapping[str, float], counts: Mapping[str, int], dropped: int
) -> list[str]:
    """Return which pieces fall, one after the other.

    The one with the lowest count falls, of equals the one with the lowest score. Its count goes to
    its parts. Single characters and parts of others stay.
    """
    left = dict(scores)
    uses = Counter(counts)
    fallen = []
    for _ in range(dropped):
        needed = {part for piece in left if len(piece) > 1 for part in parts(piece, left)}
        leaves = [piece for piece in left if len(piece) > 1 and piece not in needed]
        if not leaves:
            break
        worst = min(leaves, key=lambda piece: (uses[piece], left[piece]))
        for part in parts(worst, left):
            uses[part] += uses[worst]
        fallen.append(worst)
        del left[worst]
    return fallen
