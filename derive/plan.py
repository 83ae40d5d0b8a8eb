"""Write ``plan.hpp`` and ``plan.pxd``, the structs of the classes in ``plan.py``."""

import sys
from typing import get_type_hints

from derive.files import write_or_check
from spmcompat.plan import STRUCTS

CPP = {bool: "bool", int: "uint32_t", bytes: "std::string"}
CYTHON = {bool: "cbool", int: "uint32_t", bytes: "string"}

HEADER = """\
// Made by derive/plan.py from plan.py, which explains the fields; do not edit.
#pragma once

#include <cstdint>
#include <string>

namespace spmcompat {

"""
HEADER_END = """

}  // namespace spmcompat
"""
DECLARATIONS = """\
# Made by derive/plan.py from plan.py, which explains the fields; do not edit.
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


def files() -> dict[str, bytes]:
    """Return the content of both files."""
    return {
        "spmcompat/plan.hpp": header().encode(),
        "spmcompat/plan.pxd": declarations().encode(),
    }


if __name__ == "__main__":
    sys.exit(write_or_check(files))
