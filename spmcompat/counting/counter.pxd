from libc.stdint cimport int64_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from spmcompat.segments.corpus cimport CSegmentCounts, PieceRule, WordRule, char32_t
from spmcompat.text.lines cimport CSampler, LineFilter
from spmcompat.normalization.normalizer cimport CNormalizer, MetaPieceMatcher


cdef extern from "spmcompat/counting/pretoken_table.hpp" namespace "spmcompat" nogil:
    cdef cppclass WordTable:
        WordTable(unsigned int shard_bits) except +
        uint32_t shards()


cdef extern from "spmcompat/pretokenization/script_runs.hpp" namespace "spmcompat" nogil:
    cdef cppclass ScriptRuns:
        ScriptRuns() except +


cdef extern from "spmcompat/counting/counter.hpp" namespace "spmcompat" nogil:
    cdef cppclass FoldOptions:
        cbool counted
        int copies
        cbool whole_sentences
        cbool short_way
        cbool pretokenized
        cbool spare_marks
        cbool ordered
        cbool uniform_starts
        string delimiter
        const ScriptRuns* script_runs

    cdef cppclass CountedTexts:
        void add(string_view text, int64_t count) except +
        size_t size()
        string_view operator[](size_t i)
        int64_t count(size_t i)

    cdef cppclass BatchLog:
        uint64_t sentences
        uint64_t filled
        uint64_t text_bytes
        uint64_t text_words
        void drop_words()
        void forget()

    cdef cppclass CFolder "spmcompat::Folder":
        CFolder(
            const FoldOptions&, const PieceRule&, const CNormalizer&,
            const MetaPieceMatcher&) except +
        void begin_batch(uint64_t index, cbool keep_words) except +
        CountedTexts take_normalized() except +
        void add_pretokenized(const CountedTexts& sentences) except +
        BatchLog end_batch() except +
        void finish(WordTable& table, cbool keep_ids) except +
        string last_word(uint32_t id) except +


cdef extern from "spmcompat/counting/pretoken_counts.hpp" namespace "spmcompat" nogil:
    cdef cppclass SentenceOrder:
        SentenceOrder()
        vector[uint32_t] last
        void append(BatchLog log, const CFolder& folder, cbool with_words) except +
        void remove_empty(cbool looks_again) except +

    cdef cppclass CharacterCounts:
        CharacterCounts() except +
        void add(const CharacterCounts& other) except +
        uint64_t nuls()
        vector[pair[char32_t, uint64_t]] counted() except +


cdef extern from "spmcompat/old_releases/delimiter.hpp" namespace "spmcompat" nogil:
    cdef cppclass Delimiter:
        string text
        cbool parts
        cbool by_byte


cdef extern from "spmcompat/segments/chunk_plan.hpp" namespace "spmcompat" nogil:
    cdef cppclass Stretch "spmcompat::Chunk::Stretch":
        size_t batch

    cdef cppclass CChunk "spmcompat::Chunk":
        size_t size
        vector[Stretch] stretches
        void forget_others(BatchLog& read) except +
        void arrange(SentenceOrder& read) except +

    cdef cppclass ChunkFolder:
        ChunkFolder(const CChunk* chunk, size_t batch, CFolder& folder) except +


# A lambda is no Cython: what a filter finds, and what a folder holds, is handed on by these.
cdef extern from *:
    """
    #include "spmcompat/segments/chunk_plan.hpp"
    #include "spmcompat/text/lines.hpp"
    #include "spmcompat/segments/segment_counts.hpp"
    #include "spmcompat/counting/pretoken_counts.hpp"
    namespace spmcompat {
    template <typename Lines>
    void fold_lines(LineFilter& filter, const char* text, const Lines& lines, ChunkFolder& folder) {
      filter.for_each_sentence(text, lines, [&](const char* sentence, size_t size, int64_t count) {
        folder.add_sentence(sentence, size, count);
        return true;
      });
    }
    inline void fold_sample(const Sampler& sampler, size_t first, size_t last,
                            ChunkFolder& folder) {
      for (size_t i = first; i < last; ++i) {
        folder.add_sentence(sampler[i].first.data(), sampler[i].first.size(), sampler[i].second);
      }
    }
    inline void count_text_characters(Folder& folder, CharacterCounts& counts) {
      folder.for_each_counted_text([&](std::string_view text, uint64_t count) {
        for_each_character(text, [&](char32_t c) { counts.add(c, count); });
      });
    }
    inline void cut_text(Folder& folder, const WordRule& rule,
                         const std::vector<char32_t>& alphabet, SegmentCounts& out) {
      std::vector<bool> required(kCodePoints);
      for (const char32_t c : alphabet) required[c] = true;
      std::string covered;
      folder.consume_counted_text([&](std::string_view text, uint64_t count) {
        if (rule.delimiter.empty() && (rule.longest == 0 || text.size() <= rule.longest)) {
          out.add_parts(text, count, rule.pieces, required);
          return;
        }
        if (WordCounts::cover_text(text, required, covered)) text = covered;
        for_each_word(text, rule.pieces, [&](std::string_view word) {
          out.add_word(std::string(word), count, rule);
        });
      });
    }
    }
    """
    void fold_lines "spmcompat::fold_lines"[T](
        LineFilter& filter, const char* text, const T& lines, ChunkFolder& folder) except + nogil
    void fold_sample "spmcompat::fold_sample"(
        const CSampler& sampler, size_t first, size_t last, ChunkFolder& folder) except + nogil
    void count_text_characters "spmcompat::count_text_characters"(
        CFolder& folder, CharacterCounts& counts) except + nogil
    void cut_text "spmcompat::cut_text"(
        CFolder& folder, const WordRule& rule, const vector[char32_t]& alphabet,
        CSegmentCounts& out) except + nogil


cdef class TextRules:
    cdef unique_ptr[CNormalizer] normalizer
    cdef unique_ptr[MetaPieceMatcher] matcher
    cdef unique_ptr[ScriptRuns] script_runs
    cdef FoldOptions fold
    cdef PieceRule rule
    cdef Delimiter delimiter
    cdef bint looks_again
    cdef bint by_characters
    cdef readonly bint looks_at_text_end
    cdef readonly bint keeps_order
    cdef object pretokenize


cdef class Batch:
    cdef BatchLog log
    cdef readonly int folder


cdef class Chunk:
    cdef CChunk chunk


cdef class Folder:
    cdef unique_ptr[CFolder] folder
    cdef TextRules rules
    cdef int number
    cdef unique_ptr[ChunkFolder] _begin_batch(self, uint64_t index, bint keep_words, Chunk chunk)
    cdef Batch _end_batch(self)
    cdef _pretokenize(self)
