from libc.stdint cimport int64_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from spmcompat.corpus.lines cimport CSampler, LineFilter


cdef extern from *:
    ctypedef unsigned int char32_t


cdef extern from "normalizer.hpp" namespace "spmcompat" nogil:
    cdef cppclass NormalizerOptions:
        cbool add_dummy_prefix
        cbool remove_extra_whitespaces
        cbool escape_whitespaces
        cbool treat_whitespace_as_suffix

    cdef cppclass CNormalizer "spmcompat::Normalizer":
        CNormalizer(string charsmap, const NormalizerOptions& options) except +
        cbool words_are_independent()

    cdef cppclass CMetaPieceMatcher "spmcompat::MetaPieceMatcher":
        CMetaPieceMatcher(vector[string] symbols, char mark) except +


cdef extern from "piece_rule.hpp" namespace "spmcompat" nogil:
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


cdef extern from "word_table.hpp" namespace "spmcompat" nogil:
    cdef cppclass WordTable:
        WordTable(unsigned int shard_bits) except +
        uint32_t shards()


cdef extern from "script_runs.hpp" namespace "spmcompat" nogil:
    cdef cppclass CScriptRuns "spmcompat::ScriptRuns":
        CScriptRuns() except +


cdef extern from "fold.hpp" namespace "spmcompat" nogil:
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
        const CScriptRuns* script_runs

    cdef cppclass CountedTexts:
        void add(string_view text, int64_t count) except +
        size_t size()
        string_view operator[](size_t i)
        int64_t count(size_t i)

    cdef cppclass CBatchLog "spmcompat::BatchLog":
        uint64_t sentences
        uint64_t filled
        uint64_t text_bytes
        uint64_t text_words
        void drop_words()
        void forget()

    cdef cppclass CFolder "spmcompat::Folder":
        CFolder(
            const FoldOptions&, const PieceRule&, const CNormalizer&, const CMetaPieceMatcher&)
        void begin_batch(uint64_t index, cbool keep_words)
        CountedTexts take_normalized()
        void add_pretokenized(const CountedTexts& sentences) except +
        CBatchLog end_batch()
        void finish(WordTable& table, cbool keep_ids) except +
        string last_word(uint32_t id) except +


cdef extern from "word_counts.hpp" namespace "spmcompat" nogil:
    cdef cppclass SentenceOrder:
        SentenceOrder()
        vector[uint32_t] last
        void append(CBatchLog log, const CFolder& folder, cbool with_words) except +
        void remove_empty(cbool looks_again) except +

    cdef cppclass TextEnding:
        TextEnding()
        void add(const CBatchLog& log, uint32_t folder) except +
        uint64_t sentences()
        void find() except +
        uint32_t folder()
        uint32_t id()

    cdef cppclass CharacterCounts:
        void add(const CharacterCounts& other) except +
        uint64_t nuls()
        vector[pair[char32_t, uint64_t]] counted() except +

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


cdef extern from "segmenter.hpp" namespace "spmcompat" nogil:
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


cdef extern from "text_end.hpp" namespace "spmcompat" nogil:
    cdef cppclass TextEnd:
        TextEnd(
            const WordTable& words, const PieceRule& rule, const SentenceOrder& order,
            int copies) except +
        SeedCounts counts() except +


cdef extern from "delimiter.hpp" namespace "spmcompat" nogil:
    cdef cppclass Delimiter:
        string text
        cbool parts
        cbool by_byte

    cdef cppclass DelimitedSentences:
        DelimitedSentences(
            const WordTable& sentences, const Delimiter& delimiter, const PieceRule& rule,
            cbool ordered) except +
        void count_characters(uint32_t shard, CharacterCounts& counts) except +
        void cut(uint32_t shard, WordTable& words) except +
        SentenceOrder order_of_texts(const SentenceOrder& order) except +
        SentenceOrder order_of_words(const SentenceOrder& order) except +


cdef extern from "chunks.hpp" namespace "spmcompat" nogil:
    cdef cppclass CStretch "spmcompat::Chunk::Stretch":
        size_t batch

    cdef cppclass CChunk "spmcompat::Chunk":
        size_t size
        vector[CStretch] stretches
        void forget_others(CBatchLog& read) except +
        void arrange(SentenceOrder& read) except +

    cdef cppclass CChunkPlan "spmcompat::ChunkPlan":
        CChunkPlan(const vector[char32_t]& alphabet, uint64_t chunk_bytes, size_t batches) except +
        void measure(
            const CBatchLog& log, const CFolder& folder, const WordTable& words) except +
        void cut() except +
        size_t chunks()
        uint64_t sentences()
        CChunk chunk(size_t number) except +

    cdef cppclass ChunkFolder:
        ChunkFolder(const CChunk* chunk, size_t batch, CFolder& folder)


cdef extern from *:
    """
    #include <cstdlib>
    #ifdef __GLIBC__
    #include <malloc.h>
    #endif
    namespace spmcompat {
    inline void return_freed_memory() {
    #ifdef __GLIBC__
      mallopt(M_MMAP_THRESHOLD, 1 << 17);
      malloc_trim(0);
    #endif
    }
    }
    """
    void c_return_freed_memory "spmcompat::return_freed_memory"() nogil


# A lambda is no Cython: what a filter finds is handed on by these.
cdef extern from *:
    """
    #include "chunks.hpp"
    #include "lines.hpp"
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
    }
    """
    void fold_lines "spmcompat::fold_lines"[T](
        LineFilter& filter, const char* text, const T& lines, ChunkFolder& folder) except + nogil
    void fold_sample "spmcompat::fold_sample"(
        const CSampler& sampler, size_t first, size_t last, ChunkFolder& folder) except + nogil


cdef extern from "word_rule.hpp" namespace "spmcompat" nogil:
    cdef cppclass WordRule:
        PieceRule pieces
        string delimiter
        size_t longest


cdef extern from "segment_counts.hpp" namespace "spmcompat" nogil:
    cdef cppclass CSegmentCounts "spmcompat::SegmentCounts":
        CSegmentCounts() except +
        size_t size()
        void add(const CSegmentCounts& other) except +

    CSegmentCounts cut_words(SegmentedCorpus corpus, const WordRule& rule) except +
    CSegmentCounts count_segments(const SegmentedCorpus& corpus) except +


# A lambda is no Cython: what a folder holds is handed on by these.
cdef extern from *:
    """
    #include "segment_counts.hpp"
    #include "word_counts.hpp"
    namespace spmcompat {
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
    void count_text_characters "spmcompat::count_text_characters"(
        CFolder& folder, CharacterCounts& counts) except + nogil
    void cut_text "spmcompat::cut_text"(
        CFolder& folder, const WordRule& rule, const vector[char32_t]& alphabet,
        CSegmentCounts& out) except + nogil


cdef class SegmentCounts:
    cdef CSegmentCounts segments
    cdef PieceRule rule


cdef class Corpus:
    cdef SegmentedCorpus segmented
    cdef PieceRule rule
    cdef bint by_characters
    cdef public list alphabet
    cdef readonly double text_bytes
    cdef public object chunks
    cdef public object seed_text
