"""Write ``category_ranges.hpp`` from the general categories in Python's module ``unicodedata``.

The version of Unicode is always that of Python 3.11::

    python3.11 -m derive.categories
"""

import sys
import unicodedata
from itertools import groupby

from derive.files import MissingSourceError, fill_lines, write_or_check

VERSION = "14.0.0"
CLASSES = {"L": "Letter", "M": "Letter", "P": "Symbol", "S": "Symbol", "Z": "Separator"}
CLASSES["N"] = "Number"
NAMES = ["Other", "Letter", "Symbol", "Separator", "Number"]

HEADER = """\
// Made by derive/categories.py from Unicode {version}; do not edit.
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


def files() -> dict[str, bytes]:
    """Return the content of the header."""
    if unicodedata.unidata_version != VERSION:
        raise MissingSourceError(
            f"this Python has Unicode {unicodedata.unidata_version}, not {VERSION}"
        )
    items = [f"{{0x{a:x},0x{b:x},{NAMES.index(name)}}}," for a, b, name in ranges()]
    header = HEADER.format(
        version=VERSION,
        constants="\n".join(f"constexpr int kCategory{n} = {i};" for i, n in enumerate(NAMES)),
        ranges=fill_lines(items, "    "),
    )
    return {"spmcompat/unicode/category_ranges.hpp": header.encode()}


if __name__ == "__main__":
    sys.exit(write_or_check(files))
