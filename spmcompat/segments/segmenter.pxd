from libc.stdint cimport uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector

from spmcompat.segments.corpus cimport PieceRule, SeedCounts, SegmentedCorpus, char32_t
from spmcompat.counting.counter cimport (
    BatchLog, CharacterCounts, Delimiter, SentenceOrder, WordTable)


cdef extern from "spmcompat/counting/pretoken_counts.hpp" namespace "spmcompat" nogil:
    cdef cppclass TextEnding:
        TextEnding()
        void add(const BatchLog& log, uint32_t folder) except +
        uint64_t sentences()
        void find() except +
        uint32_t folder()
        uint32_t id()

    cdef cppclass WordCounts:
        WordCounts(unsigned int shard_bits) except +
        WordTable& words()
        void close_sentences(const SentenceOrder& order, cbool uniform_starts) except +
        void close_sentences(const string& last) except +
        double text_bytes()
        void count_characters(uint32_t shard, CharacterCounts& counts) except +
        void require(const vector[char32_t]& alphabet) except +
        void find_changes(uint32_t shard) except +
        void change(uint32_t shard) except +
        void finish_changes(SentenceOrder* order) except +
        void join_sentences(
            SentenceOrder& order, cbool uniform_starts, WordCounts& joined) except +


cdef extern from "spmcompat/segments/segmenter.hpp" namespace "spmcompat" nogil:
    cdef cppclass Segmenter:
        Segmenter(
            WordTable words, const PieceRule& rule, cbool by_characters, size_t parts) except +
        void sort_words(size_t part) except +
        void divide() except +
        void merge(size_t part) except +
        void end_merge()
        void cut(size_t part) except +
        void cut_shard(uint32_t shard) except +
        void take_contexts(uint32_t shard) except +
        void assemble_segments(SegmentedCorpus& out) except +
        void assemble(const SentenceOrder* order, SegmentedCorpus& out) except +


cdef extern from "spmcompat/old_releases/text_end.hpp" namespace "spmcompat" nogil:
    cdef cppclass TextEnd:
        TextEnd(
            const WordTable& words, const PieceRule& rule, const SentenceOrder& order,
            int copies) except +
        SeedCounts counts() except +


cdef extern from "spmcompat/old_releases/delimiter.hpp" namespace "spmcompat" nogil:
    cdef cppclass DelimitedSentences:
        DelimitedSentences(
            const WordTable& sentences, const Delimiter& delimiter, const PieceRule& rule,
            cbool ordered) except +
        void count_characters(uint32_t shard, CharacterCounts& counts) except +
        void cut(uint32_t shard, WordTable& words) except +
        SentenceOrder order_of_texts(const SentenceOrder& order) except +
        SentenceOrder order_of_words(const SentenceOrder& order) except +
