from libc.stdint cimport int64_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

from spmcompat.counting.counts cimport (
    CharacterCounts, CountedText, PretokenCounts, SegmentTable, SentenceOrder)
from spmcompat.plan cimport char32_t, CPlan
from spmcompat.pretokenization.piece_rule cimport PieceRule
from spmcompat.runtime.threads cimport CCrew, Crew


cdef extern from "spmcompat/old_releases/seed_counts.hpp" namespace "spmcompat" nogil:
    cdef cppclass SeedCounts:
        pass


cdef extern from "spmcompat/segments/segmented_corpus.hpp" namespace "spmcompat" nogil:
    cdef cppclass StringList:
        StringList()
        size_t size()

    cdef cppclass SegmentUse:
        pass

    cdef cppclass SegmentedCorpus:
        SegmentedCorpus() except +
        StringList segments
        vector[SegmentUse] uses
        vector[uint64_t] pretoken_begin
        vector[uint32_t] pretoken_segments
        vector[int64_t] pretoken_count
        SeedCounts at_text_end
        size_t segments_size()
        string segment_text(uint32_t segment) except +
        string pretoken_text(size_t pretoken) except +


cdef extern from "spmcompat/segments/segment_counts.hpp" namespace "spmcompat" nogil:
    cdef cppclass CSegmentCounts "spmcompat::SegmentCounts":
        CSegmentCounts() except +
        size_t size()
        void add(string_view segment, uint64_t count) except +

    CSegmentCounts count_segments(const SegmentedCorpus& corpus, CCrew& crew)


cdef extern from "spmcompat/segments/cut.hpp" namespace "spmcompat" nogil:
    cdef cppclass CutText:
        CutText()
        SegmentedCorpus corpus
        double text_bytes
        CharacterCounts part_characters

    void join_sentences(
        unique_ptr[PretokenCounts]& counts, SentenceOrder& order, cbool uniform_starts,
        CCrew& crew)
    CutText cut_counts(
        unique_ptr[PretokenCounts]& counts, SentenceOrder& order,
        const vector[char32_t]& alphabet, const CPlan& plan, cbool in_order,
        cbool with_pretokens, CCrew& crew)
    CSegmentCounts count_bpe_segments(
        SegmentedCorpus& corpus, const PieceRule& rule, CCrew& crew)
    CSegmentCounts count_text_segments(
        CountedText& text, const PieceRule& rule, const vector[char32_t]& alphabet,
        CCrew& crew)
    CSegmentCounts cut_at_rare_characters(
        unique_ptr[SegmentTable]& table, const vector[char32_t]& alphabet, CCrew& crew)


cdef class SegmentCounts:
    cdef CSegmentCounts segments
    cdef PieceRule rule

    @staticmethod
    cdef SegmentCounts of_rule(const PieceRule& rule)
    cdef await_stage(self, Crew crew)


cdef class Corpus:
    cdef SegmentedCorpus segmented
    cdef PieceRule rule
    cdef bint seed_tree_of_characters
    cdef public list alphabet
    cdef readonly double text_bytes
    cdef public object chunks
    cdef public object seed_text
