"""Cython declarations of the rule that decides which strings can be pieces."""

from libcpp cimport bool as cbool

from spmcompat.plan cimport CPlan, char32_t


cdef extern from "spmcompat/pretokenization/piece_rule.hpp" namespace "spmcompat" nogil:
    cdef cppclass PieceRule:
        PieceRule()
        PieceRule(const CPlan& plan)
        size_t max_length
        cbool allows(const char32_t* piece, size_t length)
