"""The plan for Cython modules. Cython converts a dict with the fields of `Plan` to a `CPlan`."""

from libcpp cimport bool as cbool
from libcpp.string cimport string


cdef extern from *:
    ctypedef unsigned int char32_t


cdef extern from "spmcompat/plan.hpp" namespace "spmcompat" nogil:
    cdef struct CPlan "spmcompat::Plan":
        cbool add_dummy_prefix
        cbool remove_extra_whitespaces
        cbool treat_whitespace_as_suffix
        size_t max_piece_length
        cbool split_by_unicode_script
        cbool split_by_number
        cbool split_by_whitespace
        cbool split_digits
        cbool whitespace_as_suffix
        cbool allow_whitespace_only_pieces
        cbool spaces_apart
        char32_t boundary
        cbool tsv
        int copies
        string delimiter
        string removed_delimiter
        cbool delimiter_cuts
        cbool delimiter_parts_by_byte
        cbool script_runs
        cbool calls_pretokenizer
        cbool boundaries_end_pretokens
        cbool whole_sentences
        cbool uniform_starts
        cbool by_raw_tokens
        cbool keeps_contexts
        cbool looks_at_text_end
        cbool keeps_order
        cbool keeps_pretokens
        cbool cuts_segments
        cbool removes_all_empty
        cbool em_reads_sentences
        cbool seed_tree_of_characters
        string bpe_delimiter
        size_t bpe_longest_pretoken
