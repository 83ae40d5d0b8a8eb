from libc.stdint cimport int64_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from spmcompat.counting.counts cimport (
    CharacterCounts, PretokenCounts, PretokenTable, SegmentTable, SentenceOrder)
from spmcompat.plan cimport char32_t, CPlan
from spmcompat.pretokenization.piece_rule cimport PieceRule
from spmcompat.runtime.threads cimport CCrew


cdef extern from "spmcompat/old_releases/pretoken_rule.hpp" namespace "spmcompat" nogil:
    cdef cppclass PretokenRule:
        PretokenRule()
        PretokenRule(const CPlan& plan) except +
        PieceRule pieces
        string bpe_delimiter
        size_t bpe_longest_pretoken


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
        CSegmentCounts(SegmentTable table) except +
        size_t size()
        void add(const CSegmentCounts& other) except +

    CSegmentCounts count_bpe_segments(SegmentedCorpus corpus, const PretokenRule& rule) except +
    CSegmentCounts count_segments(const SegmentedCorpus& corpus) except +


cdef class SegmentCounts:
    cdef CSegmentCounts segments
    cdef PretokenRule rule

    @staticmethod
    cdef SegmentCounts of_rule(const PretokenRule& rule)
    cdef fail(self, error)


cdef class Corpus:
    cdef SegmentedCorpus segmented
    cdef PieceRule rule
    cdef PretokenRule pretoken_rule
    cdef bint seed_tree_of_characters
    cdef public list alphabet
    cdef readonly double text_bytes
    cdef public object chunks
    cdef public object seed_text


cdef extern from "spmcompat/segments/cut.hpp" namespace "spmcompat" nogil:
    void cover_pretokens(
        PretokenCounts& counts, const vector[char32_t]& alphabet, SentenceOrder* order,
        CCrew& crew)
    void cut_at_rare_characters(
        SegmentTable& segments, const vector[char32_t]& alphabet, CCrew& crew)
    void remove_delimiters(
        unique_ptr[PretokenCounts]& counts, const CPlan& plan, unsigned int shard_bits,
        SentenceOrder& order, cbool in_order, vector[CharacterCounts]& characters, CCrew& crew)
    void cut_pretokens(
        SegmentedCorpus& corpus, unique_ptr[PretokenCounts]& counts, const CPlan& plan,
        const SentenceOrder* order, CCrew& crew)
    void cut_segments(
        SegmentedCorpus& corpus, unique_ptr[PretokenCounts]& counts, const CPlan& plan,
        CCrew& crew)


cdef extern from "spmcompat/old_releases/text_end.hpp" namespace "spmcompat" nogil:
    cdef cppclass TextEndSeeds:
        TextEndSeeds(
            const PretokenTable& pretokens, const PieceRule& rule, const SentenceOrder& order,
            int copies) except +
        SeedCounts counts() except +
