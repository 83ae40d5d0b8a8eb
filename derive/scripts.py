"""Write ``script_ranges.hpp`` from the script table in the source distribution of sentencepiece.

The installed library does not expose the table, so the source distribution is read::

    pip download --no-binary :all: --no-deps sentencepiece==0.2.3
    python -m derive.scripts sentencepiece-0.2.3.tar.gz
"""

import re
import sys
import tarfile
from pathlib import Path

from derive.files import fill_lines, write_or_check

MEMBER = "unicode_script_map.h"
NAMED = ["Common", "Inherited", "Han", "Hiragana", "Katakana"]
ENTRY = re.compile(
    r"(?:c = 0x(?P<first>[0-9A-F]+); c <= 0x(?P<last>[0-9A-F]+); \+\+c\)\s*)?"
    r"\(\*smap\)\[(?:c|0x(?P<one>[0-9A-F]+))\]\s*=\s*U_(?P<name>\w+);"
)

HEADER = """\
// Made by derive/scripts.py from {member} of sentencepiece 0.2.3; do not edit.
// Sorted, disjoint ranges of code points, with their Unicode script. All other code points are
// Common.
#pragma once

#include <cstdint>

namespace spmcompat {{

struct ScriptRange {{
  char32_t first;
  char32_t last;
  uint8_t script;
}};

{constants}

// The numbers of the other scripts:
{names}

constexpr ScriptRange kScriptRanges[] = {{
{ranges}
}};

}}  // namespace spmcompat
"""


def read_table(archive: Path) -> str:
    """Return the text of the script table in the source distribution."""
    with tarfile.open(archive) as tar:
        name = next(name for name in tar.getnames() if name.endswith("/" + MEMBER))
        member = tar.extractfile(name)
        if member is None:
            raise SystemExit(f"{archive}: {name} is not a file")
        return member.read().decode()


def parse(table: str) -> dict[int, str]:
    """Return the name of the script of each code point. Later entries overwrite earlier ones."""
    scripts: dict[int, str] = {}
    entries = list(ENTRY.finditer(table))
    if len(entries) != table.count("(*smap)["):
        raise SystemExit(f"{MEMBER}: some of its entries cannot be parsed")
    for entry in entries:
        first = int(entry["one"] or entry["first"], 16)
        last = int(entry["one"] or entry["last"], 16)
        scripts.update(dict.fromkeys(range(first, last + 1), entry["name"]))
    return scripts


def merge(scripts: dict[int, str]) -> list[tuple[int, int, str]]:
    """Return a list of (first, last, script name): ranges of code points, without Common."""
    ranges: list[tuple[int, int, str]] = []
    for point in sorted(point for point, name in scripts.items() if name != "Common"):
        name = scripts[point]
        if ranges and ranges[-1][1:] == (point - 1, name):
            ranges[-1] = (ranges[-1][0], point, name)
        else:
            ranges.append((point, point, name))
    return ranges


def render(ranges: list[tuple[int, int, str]]) -> str:
    """Return the content of the header."""
    names = NAMED + sorted({name for _, _, name in ranges} - set(NAMED))
    ids = {name: i for i, name in enumerate(names)}
    return HEADER.format(
        member=MEMBER,
        constants="\n".join(f"constexpr int kScript{name} = {ids[name]};" for name in NAMED),
        names=fill_lines([f"{ids[name]} {name}," for name in names[len(NAMED) :]], "// ").rstrip(
            ","
        ),
        ranges=fill_lines([f"{{0x{a:x}, 0x{b:x}, {ids[name]}}}," for a, b, name in ranges], "    "),
    )


def files(archive: str) -> dict[str, bytes]:
    """Return the content of the header."""
    header = render(merge(parse(read_table(Path(archive)))))
    return {"spmcompat/unicode/script_ranges.hpp": header.encode()}


if __name__ == "__main__":
    sys.exit(write_or_check(files, "archive"))
