# Made by derive/plan.py from plan.py, which explains the fields; do not edit.
from libc.stdint cimport uint32_t
from libcpp cimport bool as cbool
from libcpp.string cimport string


cdef extern from *:
    ctypedef unsigned int char32_t


cdef extern from "spmcompat/plan.hpp" namespace "spmcompat" nogil:
    cdef struct CCountingPlan "spmcompat::CountingPlan":
        cbool add_dummy_prefix
        cbool remove_extra_whitespaces
        cbool treat_whitespace_as_suffix
        string delimiter
        cbool script_runs
        cbool calls_pretokenizer
        cbool tsv
        uint32_t copies
        cbool whole_sentences
        cbool uniform_starts
        cbool by_raw_tokens
        cbool keeps_contexts
        cbool keeps_order
        cbool keeps_pretokens
        cbool cuts_segments
        cbool removes_all_empty

    cdef struct CCuttingPlan "spmcompat::CuttingPlan":
        uint32_t max_piece_length
        cbool split_by_unicode_script
        cbool split_by_number
        cbool split_by_whitespace
        cbool split_digits
        cbool whitespace_as_suffix
        cbool allow_whitespace_only_pieces
        cbool spaces_apart
        cbool boundaries_end_pretokens
        uint32_t boundary
        string removed_delimiter
        cbool delimiter_cuts
        cbool delimiter_parts_by_byte
        string bpe_delimiter
        uint32_t bpe_longest_pretoken
        cbool em_reads_sentences

    cdef struct CSeedingPlan "spmcompat::SeedingPlan":
        cbool looks_at_text_end
        cbool seed_tree_of_characters

    cdef struct CPlan "spmcompat::Plan":
        CCountingPlan counting
        CCuttingPlan cutting
        CSeedingPlan seeding
