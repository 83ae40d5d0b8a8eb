// Counts the words into which a tokenizer cuts a text.
//
// A chunk of text is cut into the same words wherever it occurs (chunks.hpp). So each chunk is
// looked up in a table, and cut only once, after the text was read. Only long chunks, which rarely
// occur twice, are cut into parts at once, which are stored in the same table and cut again. The
// parts are the words themselves if an expression cuts the text: such a word stays whole, because
// the alternative of the expression that matched it in the text also matches it alone. For BERT, see
// for_each_bert_part.
//
// A counter can normalize texts with NFC before they are cut. It normalizes each chunk when it cuts
// it, because the normalized chunks, one after another, are the chunks of the normalized text:
//
// - A space is a plain character (nfc.hpp), so NFC changes nothing across the beginning of a chunk.
//   It composes nothing with a space, so the chunk still begins with it.
// - NFC replaces white space only with white space, composes nothing with it, and makes none from
//   other characters. So the character before the chunk is still not white space.
//
// A word of a normalized text stays the same when it is normalized again: all parts of such a text
// are normalized.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "spmcompat/counting/raw_token_table.hpp"
#include "spmcompat/counting/raw_tokens.hpp"
#include "spmcompat/counting/segment_table.hpp"
#include "spmcompat/runtime/cancel.hpp"
#include "spmcompat/segments/segment_counts.hpp"
#include "spmcompat/splitting/bert.hpp"
#include "spmcompat/splitting/chunks.hpp"
#include "spmcompat/splitting/nfc.hpp"
#include "spmcompat/splitting/scanners.hpp"
#include "spmcompat/text/lines.hpp"
#include "spmcompat/unicode/well_formed.hpp"

namespace spmcompat {

class WordCounter {
 public:
  // With `adds_space`, a text that does not begin with a space is read as if it did. With
  // `normalizes`, a text is normalized with NFC before it is cut.
  WordCounter(Scanner scanner, bool adds_space, bool normalizes)
      : scanner_(scanner), adds_space_(adds_space), normalizes_(normalizes) {}
  explicit WordCounter(const BertOptions& options) : scanner_(options) {}

  // Counts the words of a text, which must stay in memory until the next call of `flush`.
  void add_text(std::string_view text) {
    const bool needs_space = adds_space_ && (text.empty() || text[0] != ' ');
    if (!needs_space) return add_chunks(text);
    flush();
    spaced_.assign(" ").append(text);
    add_chunks(spaced_);
    flush();
  }
  void flush() {
    for (size_t i = 0; i < chunks_.size(); ++i) {
      if (i + kAhead < chunks_.size()) table_.prefetch_entry(chunks_[i + kAhead]);
      table_.count_inner(table_.add(chunks_[i]), 1);
    }
    chunks_.clear();
  }

  // Moves all words to `words`, to which other workers may add at the same time. Throws Cancelled
  // if `cancel` is set.
  void move_to(SegmentCounts& words, const CancelFlag& cancel) {
    table_.consume([&](const CountedRawToken& chunk) {
      cancel.check();
      for_each_word(normalized(chunk.text),
                    [&](std::string_view word) { words.add(word, chunk.inner); });
    });
  }

 private:
  static constexpr size_t kWaiting = 64;  // the number of chunks to collect before counting them
  static constexpr size_t kAhead = 6;     // the prefetch distance in chunks
  static constexpr size_t kLongest = 32;  // bytes; longer chunks are cut at once

  void add_chunks(std::string_view text) {
    for_each_chunk(text, [this](std::string_view chunk) {
      if (chunk.size() <= kLongest) return add_chunk(chunk);
      const std::string_view cut = normalized(chunk);
      for_each_part(cut, [this](std::string_view part) { add_chunk(part); });
      if (cut.data() != chunk.data()) flush();  // the parts are in normalized_
    });
  }
  void add_chunk(std::string_view chunk) {
    chunks_.emplace_back(chunk.data(), chunk.size());
    table_.prefetch_slot(chunks_.back());
    if (chunks_.size() == kWaiting) flush();
  }

  // Returns the text to cut, which is valid until the next call.
  std::string_view normalized(std::string_view chunk) {
    return normalizes_ ? nfc(chunk, normalized_) : chunk;
  }

  template <typename Function>
  void for_each_word(std::string_view chunk, Function function) const {
    if (const auto* options = std::get_if<BertOptions>(&scanner_)) {
      return for_each_bert_word(chunk, *options, function);
    }
    spmcompat::for_each_word(std::get<Scanner>(scanner_), chunk, function);
  }
  template <typename Function>
  void for_each_part(std::string_view chunk, Function function) const {
    if (const auto* options = std::get_if<BertOptions>(&scanner_)) {
      return for_each_bert_part(chunk, *options, function);
    }
    for_each_word(chunk, function);
  }

  std::variant<Scanner, BertOptions> scanner_;
  bool adds_space_ = false;
  bool normalizes_ = false;
  RawTokenTable table_;
  std::vector<RawToken> chunks_;  // chunks that are not counted yet
  std::string spaced_;
  std::string normalized_;
};

// Counts the lines of a buffer, which include their ends, or its items. Returns the first one that
// is not well-formed UTF-8, or null.
inline const char* count_texts(const BufferText& buffer, WordCounter& counter) {
  if (const char* malformed = malformed_text(buffer)) return malformed;
  for_each_text(buffer, [&](std::string_view text) { counter.add_text(text); });
  counter.flush();
  return nullptr;
}

// Returns an object to which several workers may add words.
inline SegmentCounts no_words() { return SegmentCounts(SegmentTable(kShardBits)); }

}  // namespace spmcompat
