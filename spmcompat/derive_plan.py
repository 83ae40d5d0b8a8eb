"""Write ``plan.hpp`` and ``plan.pxd``, the structs of the classes in ``plan.py``.

Usage::

    python -m spmcompat.derive_plan

With ``--check``, the existing files are compared instead of written, and the exit code is 1 if one
of them differs.
"""

import sys
from pathlib import Path
from typing import get_type_hints

from spmcompat.plan import STRUCTS
from spmcompat.unicode.derived_header import write_or_check

FOLDER = Path(__file__).parent
CPP = {bool: "bool", int: "uint32_t", bytes: "std::string"}
CYTHON = {bool: "cbool", int: "uint32_t", bytes: "string"}

HEADER = """\
// Made by derive_plan.py from plan.py, which explains the fields; do not edit.
#pragma once

#include <cstdint>
#include <string>

namespace spmcompat {

"""
HEADER_END = """

}  // namespace spmcompat
"""
DECLARATIONS = """\
# Made by derive_plan.py from plan.py, which explains the fields; do not edit.
from libc.stdint cimport uint32_t
from libcpp cimport bool as cbool
from libcpp.string cimport string


cdef extern from *:
    ctypedef unsigned int char32_t


cdef extern from "spmcompat/plan.hpp" namespace "spmcompat" nogil:
"""


def header() -> str:
    """Return the content of ``plan.hpp``."""
    structs = [
        f"struct {name} {{\n" + "".join(f"  {member};\n" for member in members) + "};"
        for name, members in _structs(CPP).items()
    ]
    return HEADER + "\n\n".join(structs) + HEADER_END


def declarations() -> str:
    """Return the content of ``plan.pxd``."""
    structs = [
        f'    cdef struct C{name} "spmcompat::{name}":\n'
        + "".join(f"        {member}\n" for member in members)
        for name, members in _structs(CYTHON, prefix="C").items()
    ]
    return DECLARATIONS + "\n".join(structs)


def _structs(types: dict[type, str], prefix: str = "") -> dict[str, list[str]]:
    """Return the members of each struct. The types of nested structs begin with the prefix."""
    found = {
        struct.__name__: [f"{types[kind]} {name}" for name, kind in get_type_hints(struct).items()]
        for struct in STRUCTS.values()
    }
    return found | {"Plan": [f"{prefix}{one.__name__} {name}" for name, one in STRUCTS.items()]}


def main() -> int:
    """Write or check both files."""
    if sys.argv[1:] not in ([], ["--check"]):
        raise SystemExit("usage: derive_plan [--check]")
    check = "--check" in sys.argv
    return max(
        write_or_check(FOLDER / "plan.hpp", header(), check),
        write_or_check(FOLDER / "plan.pxd", declarations(), check),
    )


if __name__ == "__main__":
    sys.exit(main())
