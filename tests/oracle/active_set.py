"""BPE merges of releases up to 0.2.1, chosen from an active set that changes every 100 merges.

The set receives the most frequent pairs of a hash table. If pairs have equal counts, the orders of
the table and of a heap decide which pairs the set receives. So the table and the heap here work as
in libstdc++, with the same keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from .characters import UNKNOWN, Options, Sentence, is_valid_piece, pretokens
from .heap import largest
from .merging import Pair, count_pairs

INTERVAL = 100
LEAST = 1000
SHARE = np.float32(0.05)

# The numbers of buckets of a growing std::unordered_map.
BUCKETS = [1, 13, 29, 59, 127, 257, 541, 1109, 2357, 5087, 10273, 20753, 42043, 85229, 172933]
MASK = (1 << 64) - 1


def merges(
    sentences: Iterable[Sentence], options: Options, wanted: int
) -> Iterator[tuple[str, int]]:
    """Yield each merge with the count of its pair.

    In the sentences, unknown marks replace the characters that are not required.
    """
    counted = pretokens(sentences, options)
    text = [(list(pretoken), count) for pretoken, count in counted]
    cache = Table(character for symbols, _ in text for character in symbols)
    for symbols, _ in text:
        for pair in pairwise(symbols):
            cache.note(pair, options)
    active: set[Pair] = set()
    merged: set[str] = set()
    while len(merged) < wanted:
        counts = count_pairs(text)
        if len(merged) % INTERVAL == 0:
            pairs = cache.pairs()
            size = min(max(LEAST, int(np.float32(len(cache)) * SHARE)), len(pairs))
            active = {pairs[i] for i in largest([counts[pair] for pair in pairs], size)}
        if not active:
            return
        best = min(active, key=lambda pair: (-counts[pair], len("".join(pair)), "".join(pair)))
        if "".join(best) not in merged:
            merged.add("".join(best))
            yield "".join(best), counts[best]
            cache.add_symbol(best)
            # Replace only this pair, even if its count is zero. Other pairs with the same joined
            # text, which may occur in the text, are not replaced.
            for symbols, _ in text:
                active |= replace(symbols, best, cache, options)
        active.remove(best)
        cache.erase(best)


def replace(symbols: list[str], pair: Pair, cache: Table, options: Options) -> set[Pair]:
    """Merge a pair from left to right; store and return the new pairs."""
    new: set[Pair] = set()
    at = 0
    while at + 1 < len(symbols):
        if (symbols[at], symbols[at + 1]) == pair:
            symbols[at : at + 2] = ["".join(pair)]
            around = symbols[max(at - 1, 0) : at + 2]
            new.update(found for found in pairwise(around) if cache.note(found, options))
        at += 1
    return new


class Table:
    """The symbols, in the order of a std::unordered_map with fingerprints as keys.

    The entries of a bucket are adjacent, and the newest entry comes first. A bucket that gets its
    first entry is put before all other buckets.
    """

    def __init__(self, characters: Iterable[str]) -> None:
        self._prints: dict[str, int] = {}
        self._pairs: dict[int, Pair] = {}
        self._buckets: dict[int, list[int]] = {}
        self._size = 0
        self._grown = 0
        for character in characters:
            if character not in self._prints:
                self._prints[character] = ord(character)
                self._insert(ord(character))

    def __len__(self) -> int:
        return self._size

    def add_symbol(self, pair: Pair) -> None:
        """Add the text of a pair as a symbol, so that pairs can contain it."""
        self._prints["".join(pair)] = self._print_of(pair)

    def note(self, pair: Pair, options: Options) -> bool:
        """Return whether a pair may be a piece. If so, and if the pair is new, insert it."""
        text = "".join(pair)
        if UNKNOWN in text or not is_valid_piece(text, options):
            return False
        key = self._print_of(pair)
        if key not in self._pairs:
            self._pairs[key] = pair
            self._insert(key)
        return True

    def erase(self, pair: Pair) -> None:
        key = self._print_of(pair)
        del self._pairs[key]
        bucket = key % BUCKETS[self._grown]
        self._buckets[bucket].remove(key)
        if not self._buckets[bucket]:
            del self._buckets[bucket]
        self._size -= 1

    def pairs(self) -> list[Pair]:
        return [self._pairs[key] for key in self._keys() if key in self._pairs]

    def _print_of(self, pair: Pair) -> int:
        return fingerprint(*(self._prints[symbol] for symbol in pair))

    def _keys(self) -> list[int]:
        return [key for bucket in reversed(self._buckets.values()) for key in reversed(bucket)]

    def _insert(self, key: int) -> None:
        self._size += 1
        if self._size > BUCKETS[self._grown] or self._grown == 0:
            keys = self._keys()
            self._grown += 1
            self._buckets = {}
            for old in keys:
                self._link(old)
        self._link(key)

    def _link(self, key: int) -> None:
        self._buckets.setdefault(key % BUCKETS[self._grown], []).append(key)


def fingerprint(a: int, c: int) -> int:
    """Mix two 64-bit numbers into one, with the function of Bob Jenkins."""
    b = 0xE08C1D668B756F82
    for first, second, third in ((43, 9, 8), (38, 23, 5), (35, 49, 11), (12, 18, 22)):
        a = (a - b - c & MASK) ^ c >> first
        b = (b - c - a & MASK) ^ (a << second & MASK)
        c = (c - a - b & MASK) ^ b >> third
    return c
