"""Writes a text with very many distinct words: ``python -m benchmarks.zipf 2000000000 > text``.

Half of the words are drawn from a Zipf distribution over a million words, as in a natural language.
The other half are new: each occurs once, like the numbers, names and errors in a web corpus. The
text depends only on the options.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

_LETTERS = np.frombuffer(b"etaoinshrdlcumwfgypbvkjxqz", dtype=np.uint8)
_COMMON = 1_000_000
_WORDS_AT_ONCE = 1 << 20
_WORDS_OF_A_LINE = 16


def words(numbers: np.ndarray, length: int) -> np.ndarray:
    """Return a different word of `length` letters for each number, as an array of bytes."""
    digits = np.empty((len(numbers), length), dtype=np.uint8)
    # Multiplying by an odd factor permutes the numbers below 2**40, so that words with neighbouring
    # numbers do not look alike.
    rest = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) & np.uint64((1 << 40) - 1)
    for position in range(length):
        digits[:, position] = _LETTERS[rest % np.uint64(26)]
        rest //= np.uint64(26)
    return digits


def main() -> None:
    """Write the text to standard output."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.zipf", description=__doc__)
    parser.add_argument("bytes", type=int, help="size of the text")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--new",
        type=float,
        default=0.5,
        metavar="SHARE",
        help="share of the words that are new (default: %(default)s)",
    )
    arguments = parser.parse_args()
    dice = np.random.default_rng(arguments.seed)
    weights = 1 / np.arange(1, _COMMON + 1)
    below = np.cumsum(weights / weights.sum())
    written, fresh = 0, _COMMON
    while written < arguments.bytes:
        ranks = np.searchsorted(below, dice.random(_WORDS_AT_ONCE))
        is_new = dice.random(_WORDS_AT_ONCE) < arguments.new
        numbers = np.where(is_new, fresh + np.cumsum(is_new), ranks)
        fresh += int(is_new.sum())
        # 26**9 is larger than 2**40, so nine letters are enough to write each number differently.
        letters = words(numbers, 9)
        ends = np.full((_WORDS_AT_ONCE, 1), ord(" "), dtype=np.uint8)
        ends[_WORDS_OF_A_LINE - 1 :: _WORDS_OF_A_LINE] = ord("\n")
        # The more frequent a word is, the fewer letters it has.
        lengths = np.where(is_new, 9, np.clip(2 + np.log2(ranks + 1) // 3, 2, 9)).astype(int)
        table = np.concatenate([letters, ends], axis=1)
        keep = np.arange(10)[np.newaxis, :] < lengths[:, np.newaxis]
        keep[:, 9] = True
        block = table[keep].tobytes()
        sys.stdout.buffer.write(block)
        written += len(block)


if __name__ == "__main__":
    main()
