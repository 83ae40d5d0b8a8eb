"""Write ``bert_tables.hpp``: what BERT's normalizer and pre-tokenizer do to each character.

Hugging Face ``tokenizers`` is asked about every character, so the tables are those of the library,
whose parts have different versions of Unicode::

    pip install tokenizers==0.23.3
    python -m spmcompat.splitting.derive_bert

With ``--check``, the existing file is compared instead of written, and the exit code is 1 if it
differs.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from spmcompat.splitting.derive_properties import VERSION, blocks_of, derive
from spmcompat.unicode.derived_header import fill_lines

TARGET = Path(__file__).parent / "bert_tables.hpp"
CHARACTERS = [chr(point) for point in range(sys.maxunicode + 1) if not 0xD800 <= point < 0xE000]
HANGUL = range(0xAC00, 0xD7A4)
"""The syllables, which are decomposed by a rule."""

LETTERS = {
    (): "-",
    ("white",): "w",
    ("white", "decomposed"): "w",
    ("white", "control"): "v",
    ("control",): "r",
    ("punctuation",): "p",
    ("punctuation", "decomposed"): "q",
    ("chinese",): "c",
    ("chinese", "decomposed"): "k",
    ("decomposed",): "d",
    ("capital",): "u",
    ("capital", "decomposed"): "b",
    ("removed",): "s",
    ("removed", "nonstarter"): "m",
    ("nonstarter",): "n",
}
"""The letter for each set of properties. White space may be decomposed, but stays white space."""

HEADER = """\
// Made by derive_bert.py with tokenizers {version}; do not edit.
// What BERT's normalizer and pre-tokenizer do to each character.
#pragma once

#include <cstdint>

#include "spmcompat/splitting/blocks.hpp"

namespace spmcompat {{

// The class of each character, in blocks of 64 characters. Equal blocks are stored once.
// w: white space, v: white space that is also a control character, r: control characters,
// p: punctuation, q: punctuation that is decomposed, c: Chinese characters, k: Chinese characters
// that are decomposed, d: other characters that are decomposed, u: capitals, b: capitals that are
// decomposed, m: removed accents, s: those that are starters, n: nonstarters that stay, -: all
// other characters.
constexpr char kBertBlocks[] =
{blocks};

constexpr BlockRun kBertBlockRuns[] = {{
{runs}
}};

// An entry holds for its first character and the characters up to the next entry, if they are
// mapped at all. All are mapped to characters at the same distance. Entries of the same character
// are its results, one after another.
struct CharMapping {{
  char32_t first;
  char32_t result;
}};

// The canonical decompositions without accents; those of Hangul syllables are left out.
constexpr CharMapping kBertDecompositions[] = {{
{decompositions}
}};

constexpr CharMapping kBertLowercase[] = {{
{lowercase}
}};

// The order of the nonstarters that stay. An entry holds up to the next one.
struct NonstarterRank {{
  char32_t first;
  uint8_t rank;
}};

constexpr NonstarterRank kBertRanks[] = {{
{ranks}
}};

}}  // namespace spmcompat
"""


def normalizer(**options: bool) -> Callable[[str], str]:
    """Return the function of BERT's normalizer with only the given options."""
    from tokenizers.normalizers import BertNormalizer  # noqa: PLC0415

    names = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    given: Callable[[str], str] = BertNormalizer(
        **{name: options.get(name, False) for name in names}
    ).normalize_str
    return given


def nonstarters() -> list[str]:
    """Return the characters whose canonical combining class is not 0."""
    from tokenizers.normalizers import NFD  # noqa: PLC0415

    ordered = NFD().normalize_str
    lowest, highest = "\u0334", "\u0345"
    return [
        char
        for char in CHARACTERS
        if ordered(char + lowest) == lowest + ordered(char)
        or ordered(highest + char) == ordered(char) + highest
    ]


def ranks(kept: Sequence[str]) -> dict[str, int]:
    """Return the place of each nonstarter in their order. Some have the same place."""
    strip = normalizer(strip_accents=True)
    before = {char: sum(strip(char + other) == other + char for other in kept) for char in kept}
    places = sorted({*before.values()})
    return {char: places.index(count) for char, count in before.items()}


def properties(results: Mapping[str, Mapping[str, str]], marks: set[str]) -> str:
    """Return the letter of the properties of each code point."""
    from tokenizers.pre_tokenizers import BertPreTokenizer  # noqa: PLC0415

    split = BertPreTokenizer().pre_tokenize_str

    def letter(char: str) -> str:
        words = len(split(f"a{char}a"))
        stripped = results["strip_accents"][char]
        holds = {
            "white": words == 2,
            "punctuation": words == 3,
            "control": not results["clean_text"][char],
            "chinese": len(results["handle_chinese_chars"][char]) == 3,
            "removed": not stripped,
            "capital": results["lowercase"][char] != char,
            "nonstarter": char in marks,
            "decomposed": stripped not in ("", char),
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


def render() -> str:
    """Return the content of the header."""
    options = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    results: dict[str, dict[str, str]] = {}
    for option in options:
        normalize = normalizer(**{option: True})
        results[option] = {char: normalize(char) for char in CHARACTERS}
    marks = nonstarters()
    return HEADER.format(
        version=VERSION,
        **blocks_of(properties(results, {*marks})),
        decompositions=mappings(results["strip_accents"]),
        lowercase=mappings(results["lowercase"]),
        ranks=rank_entries(ranks([char for char in marks if results["strip_accents"][char]])),
    )


if __name__ == "__main__":
    sys.exit(derive(TARGET, render))
