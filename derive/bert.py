"""Write ``bert_tables.hpp``: what BERT's normalizer and pre-tokenizer do to each character.

Hugging Face ``tokenizers`` is asked about every character, so the tables are those of the library,
whose parts have different versions of Unicode::

    pip install tokenizers==0.23.3
    python -m derive.bert
"""

import sys
from collections.abc import Callable, Mapping

from derive.files import require, write_or_check
from derive.nfc import CHARACTERS, mappings, nonstarters
from derive.properties import VERSION, blocks_of

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
// Made by derive/bert.py with tokenizers {version}; do not edit.
// What BERT's normalizer and pre-tokenizer do to each character.
#pragma once

#include "spmcompat/splitting/blocks.hpp"
#include "spmcompat/splitting/mappings.hpp"

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

constexpr CharMapping kBertLowercase[] = {{
{lowercase}
}};

}}  // namespace spmcompat
"""


def normalizer(**options: bool) -> Callable[[str], str]:
    """Return the function of BERT's normalizer with only the given options."""
    from tokenizers.normalizers import BertNormalizer

    names = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    given: Callable[[str], str] = BertNormalizer(
        **{name: options.get(name, False) for name in names}
    ).normalize_str
    return given


def properties(results: Mapping[str, Mapping[str, str]], marks: set[str]) -> str:
    """Return the letter of the properties of each code point."""
    from tokenizers.pre_tokenizers import BertPreTokenizer

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


def files() -> dict[str, bytes]:
    """Return the content of the header."""
    require("tokenizers", VERSION)
    from tokenizers.normalizers import NFD

    options = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    results: dict[str, dict[str, str]] = {}
    for option in options:
        normalize = normalizer(**{option: True})
        results[option] = {char: normalize(char) for char in CHARACTERS}
    decompose = NFD().normalize_str
    marks = nonstarters({char: decompose(char) for char in CHARACTERS})
    header = HEADER.format(
        version=VERSION,
        **blocks_of(properties(results, {*marks})),
        lowercase=mappings(results["lowercase"]),
    )
    return {"spmcompat/splitting/bert_tables.hpp": header.encode()}


if __name__ == "__main__":
    sys.exit(write_or_check(files))
