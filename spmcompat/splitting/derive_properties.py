"""Write ``property_blocks.hpp``: which characters the classes in the expressions match.

The engine of Hugging Face ``tokenizers`` is asked about every character, so the table is that of
the engine. Version 0.23.3 has Unicode 16.0::

    pip install tokenizers==0.23.3
    python -m spmcompat.splitting.derive_properties

With ``--check``, the existing file is compared instead of written, and the exit code is 1 if it
differs.
"""

import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

from spmcompat.unicode.derived_header import fill_lines, write_or_check

TARGET = Path(__file__).parent / "property_blocks.hpp"
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
// Made by derive_properties.py with tokenizers {version}; do not edit.
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
    from tokenizers import Regex, pre_tokenizers  # noqa: PLC0415

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


def render() -> str:
    """Return the content of the header."""
    return HEADER.format(version=VERSION, **blocks_of(table()))


def derive(target: Path, render: Callable[[], str]) -> int:
    """Write or check a header, as the command line says."""
    from tokenizers import __version__  # noqa: PLC0415

    if sys.argv[1:] not in ([], ["--check"]):
        raise SystemExit(f"usage: {Path(sys.argv[0]).stem} [--check]")
    if __version__ != VERSION:
        raise SystemExit(f"tokenizers {__version__} is installed, not {VERSION}")
    return write_or_check(target, render(), "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(derive(TARGET, render))
