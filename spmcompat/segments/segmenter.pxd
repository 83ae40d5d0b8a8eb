from libc.stdint cimport uint32_t
from libcpp cimport bool as cbool

from spmcompat.counting.counter cimport PretokenTable
from spmcompat.counting.counts cimport CharacterCounts, SentenceOrder
from spmcompat.plan cimport CPlan
from spmcompat.segments.corpus cimport PieceRule, SeedCounts, SegmentedCorpus


cdef extern from "spmcompat/segments/segmenter.hpp" namespace "spmcompat" nogil:
    cdef cppclass Segmenter:
        Segmenter(
            PretokenTable pretokens, const PieceRule& rule, cbool seed_tree_of_characters,
            size_t parts) except +
        void sort_pretokens(size_t part) except +
        void divide() except +
        void merge(size_t part) except +
        void end_merge()
        void cut(size_t part) except +
        void cut_shard(uint32_t shard) except +
        void take_contexts(uint32_t shard) except +
        void assemble_segments(SegmentedCorpus& out) except +
        void assemble(const SentenceOrder* order, SegmentedCorpus& out) except +


cdef extern from "spmcompat/old_releases/text_end.hpp" namespace "spmcompat" nogil:
    cdef cppclass TextEndSeeds:
        TextEndSeeds(
            const PretokenTable& pretokens, const PieceRule& rule, const SentenceOrder& order,
            int copies) except +
        SeedCounts counts() except +


cdef extern from "spmcompat/old_releases/delimiter.hpp" namespace "spmcompat" nogil:
    cdef cppclass DelimitedSentences:
        DelimitedSentences(
            const PretokenTable& sentences, const CPlan& plan, cbool ordered) except +
        void count_characters(uint32_t shard, CharacterCounts& counts) except +
        void cut(uint32_t shard, PretokenTable& pretokens) except +
        SentenceOrder order_of_texts(const SentenceOrder& order) except +
        SentenceOrder order_of_pretokens(const SentenceOrder& order) except +
