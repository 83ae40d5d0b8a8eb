"""The classes of normalizer.hpp."""

from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector


cdef extern from "spmcompat/normalization/normalizer.hpp" namespace "spmcompat" nogil:
    cdef cppclass NormalizerOptions:
        NormalizerOptions()
        cbool add_dummy_prefix
        cbool remove_extra_whitespaces
        cbool escape_whitespaces
        cbool treat_whitespace_as_suffix

    cdef cppclass SymbolMatcher:
        SymbolMatcher(vector[string] symbols) except +

    cdef cppclass CNormalizer "spmcompat::Normalizer":
        CNormalizer(
            string_view charsmap, const NormalizerOptions& options, const SymbolMatcher* symbols
        ) except +
        void normalize(const char* text, size_t size, string& out) except +
        void normalize_raw_token(const char* text, size_t size, string& out) except +

    cdef cppclass MetaPieceMatcher:
        MetaPieceMatcher(vector[string] symbols, char mark) except +
        void replace(const string& text, string& out) except +
