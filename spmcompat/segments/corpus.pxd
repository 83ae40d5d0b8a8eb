from libc.stdint cimport int64_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector


cdef extern from *:
    ctypedef unsigned int char32_t


cdef extern from "spmcompat/pretokenization/piece_rule.hpp" namespace "spmcompat" nogil:
    cdef cppclass PieceRule:
        size_t max_length
        cbool split_by_unicode_script
        cbool split_by_number
        cbool split_by_whitespace
        cbool split_digits
        cbool whitespace_as_suffix
        cbool whitespace_only
        cbool spaces_apart
        char32_t boundary
        cbool allows(const char32_t* piece, size_t length)


cdef extern from "spmcompat/old_releases/word_rule.hpp" namespace "spmcompat" nogil:
    cdef cppclass WordRule:
        PieceRule pieces
        string delimiter
        size_t longest


cdef extern from "spmcompat/segments/segmented_corpus.hpp" namespace "spmcompat" nogil:
    cdef cppclass StringList:
        StringList()
        size_t size()

    cdef cppclass SegmentUse:
        pass

    cdef cppclass SeedCounts:
        pass

    cdef cppclass SegmentedCorpus:
        SegmentedCorpus() except +
        StringList segments
        vector[SegmentUse] uses
        vector[uint64_t] word_begin
        vector[uint32_t] word_segments
        vector[int64_t] word_count
        SeedCounts at_text_end
        size_t segments_size()
        string word_text(size_t word) except +


cdef extern from "spmcompat/segments/segment_counts.hpp" namespace "spmcompat" nogil:
    cdef cppclass CSegmentCounts "spmcompat::SegmentCounts":
        CSegmentCounts() except +
        size_t size()
        void add(const CSegmentCounts& other) except +

    CSegmentCounts cut_words(SegmentedCorpus corpus, const WordRule& rule) except +
    CSegmentCounts count_segments(const SegmentedCorpus& corpus) except +


cdef class SegmentCounts:
    cdef CSegmentCounts segments
    cdef WordRule rule

    @staticmethod
    cdef SegmentCounts empty(const PieceRule& pieces, bytes delimiter, size_t longest)
    cdef _fail(self, error)


cdef class Corpus:
    cdef SegmentedCorpus segmented
    cdef PieceRule rule
    cdef bint by_characters
    cdef public list alphabet
    cdef readonly double text_bytes
    cdef public object chunks
    cdef public object seed_text
