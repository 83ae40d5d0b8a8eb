from libc.stdint cimport int64_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from spmcompat.plan cimport char32_t, CCountingPlan, CCuttingPlan, CPlan
from spmcompat.runtime.threads cimport CancelFlag, CCrew
from spmcompat.text.lines cimport LineFilter, ReadBuffer


cdef extern from "spmcompat/counting/pretoken_table.hpp" namespace "spmcompat" nogil:
    cdef cppclass PretokenTable:
        pass


cdef extern from "spmcompat/counting/batch.hpp" namespace "spmcompat" nogil:
    ctypedef vector[pair[string, int64_t]] CountedTexts

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

    cdef cppclass CCounter "spmcompat::Counter":
        CCounter(const CPlan& plan, const SentenceNormalizer& normalizer) except +
        void begin_batch(
            uint64_t index, cbool keep_pretokens, const BatchSelection* selection) except +
        CountedTexts take_normalized() except +
        void add_marked(const CountedTexts& sentences) except +
        BatchLog end_batch() except +
        WorkerTable& table()
        const Surprises& surprises()
        const char* first_nul()
        const char* first_malformed()


cdef extern from "spmcompat/counting/sentence_order.hpp" namespace "spmcompat" nogil:
    cdef cppclass SentenceOrder:
        SentenceOrder()
        vector[uint32_t] first


cdef extern from "spmcompat/counting/character_counts.hpp" namespace "spmcompat" nogil:
    cdef cppclass CharacterCounts:
        CharacterCounts()
        uint64_t nuls()
        vector[pair[char32_t, uint64_t]] counted() except +


cdef extern from "spmcompat/counting/pretoken_counts.hpp" namespace "spmcompat" nogil:
    cdef cppclass PretokenCounts:
        PretokenCounts() except +
        PretokenTable& pretokens()


cdef extern from "spmcompat/counting/segment_table.hpp" namespace "spmcompat" nogil:
    cdef cppclass SegmentTable:
        pass


cdef extern from "spmcompat/counting/merging.hpp" namespace "spmcompat" nogil:
    cdef cppclass CountedText:
        CountedText()
        void add(unique_ptr[CCounter] counter) except +
        void add(BatchLog log, size_t worker) except +

    uint64_t merge_text(
        CountedText& text, unique_ptr[PretokenCounts]& merged, SentenceOrder& order,
        const CCountingPlan& plan, cbool with_pretokens, CCrew& crew)
    CharacterCounts cut_text(
        CountedText& text, unique_ptr[SegmentTable]& segments, const CCuttingPlan& plan,
        CCrew& crew)
    CharacterCounts count_characters(const unique_ptr[PretokenCounts]& merged, CCrew& crew)
    CharacterCounts count_text_characters(const CountedText& text, CCrew& crew)


cdef class SentenceRules:
    cdef CPlan plan
    cdef unique_ptr[SentenceNormalizer] normalizer
    cdef object pretokenize
    cdef CancelFlag cancel


cdef class Batch:
    cdef BatchLog log
    cdef readonly int worker


cdef class Selection:
    cdef BatchSelection selection


cdef class Counter:
    cdef unique_ptr[CCounter] counter
    cdef SentenceRules rules
    cdef int worker
    cdef _note_places(self, uint64_t index, ReadBuffer buffer, LineFilter line_filter)
    cdef _pretokenize(self)


cdef class Counts:
    cdef CPlan plan
    cdef object rules
    cdef CountedText text
    cdef unique_ptr[PretokenCounts] pretokens
    cdef unique_ptr[SegmentTable] segments
    cdef CharacterCounts segment_characters
    cdef SentenceOrder order
    cdef readonly bint has_pretokens
    cdef readonly object sentences
    cdef readonly object first_character
    cdef readonly object nuls
    cdef public object facts
    cdef public object seeds
    cdef cut(self, workers)
    cdef dict _character_counts(self, CharacterCounts& found)
