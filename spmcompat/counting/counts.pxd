from libc.stdint cimport uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from spmcompat.counting.counter cimport BatchLog, Counter, PretokenTable, WorkerTable
from spmcompat.plan cimport CPlan, char32_t
from spmcompat.pretokenization.piece_rule cimport PieceRule


cdef extern from "spmcompat/counting/sentence_order.hpp" namespace "spmcompat" nogil:
    cdef cppclass SentenceOrder:
        SentenceOrder()
        vector[uint32_t] last
        vector[uint32_t] first
        void append(BatchLog log, const WorkerTable& table, cbool with_pretokens) except +
        void remove_empty(cbool removes_all_empty) except +
        void arrange(const vector[uint32_t]& indices) except +

    cdef cppclass LastSentence:
        LastSentence()
        void add(const BatchLog& log, uint32_t worker) except +
        uint64_t sentences()
        void find() except +
        uint32_t worker()
        uint32_t id()


cdef extern from "spmcompat/counting/character_counts.hpp" namespace "spmcompat" nogil:
    cdef cppclass CharacterCounts:
        CharacterCounts() except +
        void add(const CharacterCounts& other) except +
        uint64_t nuls()
        vector[pair[char32_t, uint64_t]] counted() except +


cdef extern from "spmcompat/counting/pretoken_counts.hpp" namespace "spmcompat" nogil:
    cdef cppclass PretokenCounts:
        PretokenCounts(unsigned int shard_bits) except +
        PretokenTable& pretokens()
        void close_sentences(const SentenceOrder& order, cbool uniform_starts) except +
        void close_sentences(const string& last) except +
        double text_bytes()
        void count_characters(uint32_t shard, CharacterCounts& counts) except +
        void require(const vector[char32_t]& alphabet) except +
        void find_changes(uint32_t shard) except +
        void change(uint32_t shard) except +
        void finish_changes(SentenceOrder* order) except +
        void join_sentences(
            SentenceOrder& order, cbool uniform_starts, PretokenCounts& joined) except +


cdef extern from "spmcompat/counting/segment_table.hpp" namespace "spmcompat" nogil:
    cdef cppclass SegmentTable:
        SegmentTable(unsigned int shard_bits) except +
        uint32_t shards()
        void find_parts(uint32_t shard, const vector[cbool]& required) except +
        void add_parts(uint32_t shard) except +

    void cut_texts(
        WorkerTable& read, const PieceRule& rule, CharacterCounts& characters,
        SegmentTable& table) except +


cdef unsigned int SHARD_BITS


cdef class CharacterSum:
    cdef vector[CharacterCounts] counts
    cdef readonly object nuls
    cdef dict total(self)


cdef class Counts:
    cdef CPlan plan
    cdef list counters
    cdef list batches
    cdef unique_ptr[PretokenCounts] pretokens
    cdef unique_ptr[SegmentTable] segments
    cdef CharacterSum text_characters
    cdef SentenceOrder order
    cdef readonly bint has_pretokens
    cdef readonly object sentences
    cdef readonly object first_character
    cdef readonly object nuls
    cdef public object facts
    cdef public object seeds
    cdef _free_counters(self)
    cdef cut(self, workers)
