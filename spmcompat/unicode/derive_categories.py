"""Write ``category_ranges.hpp`` from the general categories in Python's module ``unicodedata``.

The version of Unicode is always that of Python 3.11::

    python3.11 -m spmcompat.unicode.derive_categories

With ``--check``, the existing file is compared instead of written, and the exit code is 1 if it
differs.
"""

import sys
import unicodedata
from itertools import groupby
from pathlib import Path

from spmcompat.unicode.derived_header import fill_lines, write_or_check

TARGET = Path(__file__).parent / "category_ranges.hpp"
VERSION = "14.0.0"
CLASSES = {"L": "Letter", "M": "Letter", "P": "Symbol", "S": "Symbol", "Z": "Separator"}
CLASSES["N"] = "Number"
NAMES = ["Other", "Letter", "Symbol", "Separator", "Number"]

HEADER = """\
// Made by derive_categories.py from Unicode {version}; do not edit.
// Sorted, disjoint ranges of code points, with the class of their general category: letters and
// marks, punctuation and symbols, separators, or numbers. All other code points are Other.
#pragma once

#include <cstdint>

namespace spmcompat {{

struct CategoryRange {{
  char32_t first;
  char32_t last;
  uint8_t category;
}};

{constants}

constexpr CategoryRange kCategoryRanges[] = {{
{ranges}
}};

}}  // namespace spmcompat
"""


def ranges() -> list[tuple[int, int, str]]:
    """Return the ranges of all classes except Other, as (first, last, name)."""
    found: list[tuple[int, int, str]] = []

    def name_of(point: int) -> str:
        return CLASSES.get(unicodedata.category(chr(point))[0], NAMES[0])

    for name, points in groupby(range(sys.maxunicode + 1), name_of):
        first, *_, last = [*points] * 2
        if name != NAMES[0]:
            found.append((first, last, name))
    return found


def render() -> str:
    """Return the content of the header."""
    items = [f"{{0x{a:x},0x{b:x},{NAMES.index(name)}}}," for a, b, name in ranges()]
    return HEADER.format(
        version=VERSION,
        constants="\n".join(f"constexpr int kCategory{n} = {i};" for i, n in enumerate(NAMES)),
        ranges=fill_lines(items, "    "),
    )


def main() -> int:
    """Write or check the header."""
    if sys.argv[1:] not in ([], ["--check"]):
        raise SystemExit("usage: derive_categories [--check]")
    if unicodedata.unidata_version != VERSION:
        raise SystemExit(f"this Python has Unicode {unicodedata.unidata_version}, not {VERSION}")
    return write_or_check(TARGET, render(), "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
