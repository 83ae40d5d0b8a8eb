"""The scanners by name, for modules that split texts."""

from libc.stdint cimport uint8_t


cdef extern from "spmcompat/splitting/scanners.hpp" namespace "spmcompat" nogil:
    cdef enum class Scanner(uint8_t):
        kGpt2
        kCl100k
        kO200k
        kLlama3
        kQwen2


cdef Scanner scanner_named(str name) except *
