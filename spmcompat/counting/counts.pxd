from libc.stdint cimport int64_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from spmcompat.plan cimport char32_t, CPlan
from spmcompat.pretokenization.piece_rule cimport PieceRule
from spmcompat.text.lines cimport LineFilter, ReadBuffer


cdef extern from "spmcompat/counting/pretoken_table.hpp" namespace "spmcompat" nogil:
    cdef cppclass PretokenTable:
        PretokenTable(unsigned int shard_bits) except +
        uint32_t shards()


cdef extern from "spmcompat/counting/batch.hpp" namespace "spmcompat" nogil:
    cdef cppclass CountedTexts:
        void add(string_view text, int64_t count) except +
        size_t size()
        string_view operator[](size_t i)
        int64_t count(size_t i)

    cdef cppclass BatchLog:
        uint64_t sentences
        uint64_t filled
        uint64_t text_bytes
        uint64_t text_pretokens
        vector[uint32_t] last
        void drop_pretokens()
        void drop_sentences()

    cdef cppclass BatchSelection:
        pass


cdef extern from "spmcompat/counting/worker_table.hpp" namespace "spmcompat" nogil:
    cdef cppclass WorkerTable:
        size_t bytes()
        void merge_into(PretokenTable& table, cbool keep_ids) except +
        string last_pretoken(uint32_t id) except +
        string least_last_pretoken(vector[uint32_t] ids) except +


cdef extern from "spmcompat/counting/sentence_normalizer.hpp" namespace "spmcompat" nogil:
    cdef cppclass SentenceNormalizer:
        SentenceNormalizer(
            string_view charsmap, vector[string] symbols, const CPlan& plan) except +


cdef extern from "spmcompat/counting/counter.hpp" namespace "spmcompat" nogil:
    cdef struct Surprises:
        uint64_t blank
        uint64_t nul
        uint64_t malformed
        const char* first_nul
        const char* first_malformed

    cdef cppclass CCounter "spmcompat::Counter":
        CCounter(const CPlan& plan, const SentenceNormalizer& normalizer) except +
        void begin_batch(uint64_t index, cbool keep_pretokens) except +
        CountedTexts take_normalized() except +
        void add_marked(const CountedTexts& sentences) except +
        BatchLog end_batch() except +
        WorkerTable& table()
        const Surprises& surprises()

    cdef cppclass SentenceSelector:
        SentenceSelector(const BatchSelection* selection, CCounter& counter) except +


cdef class SentenceRules:
    cdef CPlan plan
    cdef unique_ptr[SentenceNormalizer] normalizer
    cdef object pretokenize


cdef class Batch:
    cdef BatchLog log
    cdef readonly int worker


cdef class Selection:
    cdef BatchSelection selection


cdef class Counter:
    cdef unique_ptr[CCounter] counter
    cdef SentenceRules rules
    cdef int worker
    cdef _count_lines(self, ReadBuffer lines, LineFilter line_filter, SentenceSelector& selector)
    cdef _note_places(self, uint64_t index, ReadBuffer buffer, LineFilter line_filter)
    cdef _pretokenize(self)


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
