from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from spmcompat.counting.counter cimport PretokenTable
from spmcompat.counting.counts cimport (
    CharacterCounts, PretokenCounts, SegmentTable, SentenceOrder)
from spmcompat.plan cimport CPlan, char32_t
from spmcompat.runtime.crew cimport CCrew
from spmcompat.segments.corpus cimport PieceRule, SeedCounts, SegmentedCorpus


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
