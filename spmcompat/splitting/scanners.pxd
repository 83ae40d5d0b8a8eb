"""The scanners by name, for modules that split texts."""

from libc.stdint cimport uint8_t
from libcpp cimport bool as cbool


cdef extern from "spmcompat/splitting/scanners.hpp" namespace "spmcompat" nogil:
    cdef enum class Scanner(uint8_t):
        pass


cdef extern from "spmcompat/splitting/bert.hpp" namespace "spmcompat" nogil:
    cdef struct CBertOptions "spmcompat::BertOptions":
        cbool clean_text
        cbool handle_chinese_chars
        cbool strip_accents
        cbool lowercase


cdef Scanner scanner_named(str name) except *
