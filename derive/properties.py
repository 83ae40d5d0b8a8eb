"""Write ``property_blocks.hpp``: which characters the classes in the expressions match.

The engine of Hugging Face ``tokenizers`` is asked about every character, so the table is that of
the engine. Version 0.23.3 has Unicode 16.0::

    pip install tokenizers==0.23.3
    python -m derive.properties
"""

import sys
from itertools import groupby

from derive.files import fill_lines, require, write_or_check

VERSION = "0.23.3"
BLOCK = 64
"""The size of a block: the number of characters that differ only in the last byte in UTF-8."""

CLASSES = {
    "n": r"[\r\n]",
    "w": r"[^\S\r\n]",
    "u": r"[\p{Lu}\p{Lt}]",
    "l": r"\p{Ll}",
    "o": r"[\p{Lm}\p{Lo}]",
    "m": r"\p{M}",
    "d": r"\p{N}",
}
"""Disjoint classes of characters. All other characters are ``-``."""

HEADER = """\
// Made by derive/properties.py with tokenizers {version}; do not edit.
// The class of each character, in blocks of 64 characters. Equal blocks are stored once.
// n: line ends, w: other white space, u: capitals, l: small letters, o: other letters, m: marks,
// d: numbers, -: all other characters.
#pragma once

#include "spmcompat/splitting/blocks.hpp"

namespace spmcompat {{

constexpr char kPropertyBlocks[] =
{blocks};

constexpr BlockRun kPropertyBlockRuns[] = {{
{runs}
}};

}}  // namespace spmcompat
"""


def table() -> str:
    """Return the class of each code point, as one letter."""
    from tokenizers import Regex, pre_tokenizers

    found = ["-"] * (sys.maxunicode + 1)
    points = [point for point in range(len(found)) if not 0xD800 <= point < 0xE000]
    text = "".join(map(chr, points))
    for name, expression in CLASSES.items():
        split = pre_tokenizers.Split(Regex(expression), "removed", invert=True)
        for _, (begin, end) in split.pre_tokenize_str(text):
            for point in points[begin:end]:
                found[point] = name
    return "".join(found)


def blocks_of(classes: str) -> dict[str, str]:
    """Return the distinct blocks of a table and their runs, as lines of C++."""
    blocks = [classes[i : i + BLOCK] for i in range(0, len(classes), BLOCK)]
    numbers = {block: i for i, block in enumerate(dict.fromkeys(blocks))}
    runs = [(numbers[block], len([*group])) for block, group in groupby(blocks)]
    return {
        "blocks": "\n".join(f'    "{block}"' for block in numbers),
        "runs": fill_lines([f"{{{block}, {count}}}," for block, count in runs], "    "),
    }


def files() -> dict[str, bytes]:
    """Return the content of the header."""
    require("tokenizers", VERSION)
    header = HEADER.format(version=VERSION, **blocks_of(table()))
    return {"spmcompat/splitting/property_blocks.hpp": header.encode()}


if __name__ == "__main__":
    sys.exit(write_or_check(files))
