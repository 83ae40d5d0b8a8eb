"""Cython declarations of the rule that decides which strings can be pieces."""

from libc.stdint cimport uint32_t
from libcpp cimport bool as cbool

from spmcompat.plan cimport CCuttingPlan, char32_t


cdef extern from "spmcompat/pretokenization/piece_rule.hpp" namespace "spmcompat" nogil:
    cdef cppclass PieceRule:
        PieceRule()
        PieceRule(const CCuttingPlan& plan) except +
        uint32_t max_piece_length
        uint32_t bpe_longest_pretoken
        cbool allows(const char32_t* piece, size_t length)
