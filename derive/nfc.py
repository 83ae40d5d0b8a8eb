"""Write ``nfc_tables.hpp``: the characters that NFC changes, and how.

Hugging Face ``tokenizers`` is asked about every character, so the tables are those of the library,
whose Unicode is older than that of Python::

    pip install tokenizers==0.23.3
    python -m derive.nfc
"""

import sys
from collections.abc import Mapping, Sequence

from derive.files import fill_lines, require, write_or_check
from derive.properties import VERSION, blocks_of

CHARACTERS = [chr(point) for point in range(sys.maxunicode + 1) if not 0xD800 <= point < 0xE000]
HANGUL = range(0xAC00, 0xD7A4)
"""The syllables, which are decomposed and composed by a rule."""

LETTERS = {
    (): "-",
    ("decomposed",): "d",
    ("nonstarter",): "n",
    ("changes",): "c",
    ("changes", "decomposed"): "s",
    ("changes", "nonstarter"): "m",
    ("changes", "nonstarter", "decomposed"): "r",
}
"""The letter for each set of properties."""

HEADER = """\
// Made by derive/nfc.py with tokenizers {version}; do not edit.
// Canonical decompositions, the order of nonstarters, and compositions.
#pragma once

#include <cstdint>

#include "spmcompat/splitting/blocks.hpp"
#include "spmcompat/splitting/mappings.hpp"

namespace spmcompat {{

// The class of each character, in blocks of 64 characters. Equal blocks are stored once.
// c: starters that may compose with a character before them, m: such nonstarters, n: other
// nonstarters, d: characters that are decomposed and composed again, s: other starters that are
// decomposed, r: nonstarters that are decomposed, -: all other characters.
constexpr char kNfcBlocks[] =
{blocks};

constexpr BlockRun kNfcBlockRuns[] = {{
{runs}
}};

// The canonical decompositions; those of Hangul syllables are left out.
constexpr CharMapping kDecompositions[] = {{
{decompositions}
}};

// The order of the nonstarters that are not decomposed. An entry holds up to the next one.
struct NonstarterRank {{
  char32_t first;
  uint8_t rank;
}};

constexpr NonstarterRank kNonstarterRanks[] = {{
{ranks}
}};

// The pairs of characters that compose, in their order; those of Hangul are left out.
struct Composition {{
  char32_t first;
  char32_t second;
  char32_t result;
}};

constexpr Composition kCompositions[] = {{
{compositions}
}};

}}  // namespace spmcompat
"""


def nonstarters(decomposed: Mapping[str, str]) -> list[str]:
    """Return the characters whose canonical combining class is not 0."""
    from tokenizers.normalizers import NFD

    ordered = NFD().normalize_str
    lowest, highest = "\u0334", "\u0345"
    return [
        char
        for char, parts in decomposed.items()
        if ordered(char + lowest) == lowest + parts or ordered(highest + char) == parts + highest
    ]


def ranks(kept: Sequence[str]) -> dict[str, int]:
    """Return the place of each nonstarter in their order, from 1. Some have the same place."""
    from tokenizers.normalizers import NFD

    ordered = NFD().normalize_str
    before = {char: sum(ordered(char + other) == other + char for other in kept) for char in kept}
    places = sorted({*before.values()})
    return {char: places.index(count) + 1 for char, count in before.items()}


def compositions(decomposed: Mapping[str, str], composed: Mapping[str, str]) -> dict[str, str]:
    """Return the pairs of characters that are composed, with the results."""
    from tokenizers.normalizers import NFC

    compose = NFC().normalize_str
    found = {}
    for char in CHARACTERS:
        if decomposed[char] != char == composed[char]:
            found[compose(decomposed[char][:-1]) + decomposed[char][-1]] = char
    return found


def properties(
    decomposed: Mapping[str, str],
    composed: Mapping[str, str],
    marks: set[str],
    seconds: set[str],
) -> str:
    """Return the letter of the properties of each code point."""

    def letter(char: str) -> str:
        holds = {
            "changes": composed[char] != char or decomposed[char][0] in seconds,
            "nonstarter": char in marks,
            "decomposed": decomposed[char] != char,
        }
        return LETTERS[tuple(name for name in holds if holds[name])]

    letters = {char: letter(char) for char in CHARACTERS}
    return "".join(letters.get(chr(point), "-") for point in range(sys.maxunicode + 1))


def mappings(results: Mapping[str, str]) -> str:
    """Return the entries of the characters that are not mapped to themselves."""
    found: list[tuple[int, int]] = []
    alone = False  # whether the last entry must not be used for the next character
    for char, result in results.items():
        if result not in ("", char) and ord(char) not in HANGUL:
            point, first = ord(char), ord(result[0])
            same = found and found[-1][1] - found[-1][0] == first - point
            if alone or len(result) > 1 or not same:
                found += [(point, ord(other)) for other in result]
            alone = len(result) > 1
    return fill_lines([f"{{0x{first:x},0x{result:x}}}," for first, result in found], "    ")


def rank_entries(ranks: Mapping[str, int]) -> str:
    """Return the entries of the nonstarters."""
    found: list[tuple[str, int]] = []
    for char, rank in ranks.items():
        if not found or found[-1][1] != rank:
            found.append((char, rank))
    return fill_lines([f"{{0x{ord(char):x},{rank}}}," for char, rank in found], "    ")


def pair_entries(pairs: Mapping[str, str]) -> str:
    """Return the entries of the pairs that are composed."""
    found = [
        f"{{0x{ord(first):x},0x{ord(second):x},0x{ord(result):x}}},"
        for first, second, result in sorted((*pair, result) for pair, result in pairs.items())
        if ord(result) not in HANGUL
    ]
    return fill_lines(found, "    ")


def files() -> dict[str, bytes]:
    """Return the content of the header."""
    require("tokenizers", VERSION)
    from tokenizers.normalizers import NFC, NFD

    decompose, compose = NFD().normalize_str, NFC().normalize_str
    decomposed = {char: decompose(char) for char in CHARACTERS}
    composed = {char: compose(char) for char in CHARACTERS}
    marks = nonstarters(decomposed)
    pairs = compositions(decomposed, composed)
    seconds = {pair[1] for pair in pairs}
    header = HEADER.format(
        version=VERSION,
        **blocks_of(properties(decomposed, composed, {*marks}, seconds)),
        decompositions=mappings(decomposed),
        ranks=rank_entries(ranks([char for char in marks if decomposed[char] == char])),
        compositions=pair_entries(pairs),
    )
    return {"spmcompat/splitting/nfc_tables.hpp": header.encode()}


if __name__ == "__main__":
    sys.exit(write_or_check(files))
