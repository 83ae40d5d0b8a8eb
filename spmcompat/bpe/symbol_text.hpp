// The text that is merged: every distinct segment once, as an array of symbols.
//
// A symbol is stored at the position of its first character. Its other positions are holes, so a
// merge moves nothing. The last hole of a symbol stores the distance to the position of the symbol,
// so the symbol before a position is found in one step. An edge stands before and after every
// segment.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "spmcompat/bpe/symbols.hpp"
#include "spmcompat/segments/segment_counts.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

class SymbolText {
 public:
  enum class Order { kMostFrequentFirst, kAsGiven };

  // Finds how often the segment at a position stands in the corpus. The positions of consecutive
  // calls must ascend.
  class Counts {
   public:
    explicit Counts(const SymbolText& text) : begins_(text.begins_), counts_(text.counts_) {}
    uint64_t at(uint32_t position) {
      if (position >= begins_[range_ + 1]) {
        range_ = std::upper_bound(begins_.begin() + range_ + 1, begins_.end(), position) -
                 begins_.begin() - 1;
      }
      return counts_[range_];
    }

   private:
    const std::vector<uint32_t>& begins_;
    const std::vector<uint64_t>& counts_;
    size_t range_ = 0;
  };

  // Fills the text with the characters of the segments, and adds them to `symbols`. Returns the
  // number of characters in the corpus.
  uint64_t fill(const SegmentCounts& segments, Order order, Symbols& symbols);

  // Replaces every symbol by its characters. The symbols of the characters come first.
  void split_into_characters(const Symbols& symbols, uint32_t characters);

  size_t size() const { return at_.size(); }
  // A symbol, a hole or an edge.
  uint32_t operator[](size_t position) const { return at_[position]; }
  static bool is_symbol(uint32_t at) { return !(at & kHole); }

  // Where the symbol before a symbol begins, or where the edge before it is.
  uint32_t position_before(uint32_t position) const {
    const uint32_t at = at_[position - 1];
    return is_symbol(at) || at == kEdge ? position - 1 : position - 1 - (at & ~kHole);
  }

  // Replaces two neighbouring symbols by a merged one. `left_length` is the length of the first.
  void merge(uint32_t position, uint32_t merged, uint32_t left_length, uint32_t length) {
    at_[position] = merged;
    at_[position + left_length] = kHole | left_length;
    at_[position + length - 1] = kHole | (length - 1);
  }

 private:
  static constexpr uint32_t kHole = 0x80000000u;  // | how far back its symbol begins
  static constexpr uint32_t kEdge = 0xffffffffu;

  std::vector<uint32_t> at_;
  // Ranges of neighbouring segments with the same count.
  std::vector<uint32_t> begins_;
  std::vector<uint64_t> counts_;
};

inline uint64_t SymbolText::fill(const SegmentCounts& segments, Order order, Symbols& symbols) {
  std::vector<uint32_t> ids(segments.size());
  size_t positions = 1;
  for (uint32_t id = 0; id < ids.size(); ++id) {
    ids[id] = id;
    positions += count_chars(segments.text(id)) + 1;
  }
  if (positions >= kHole) throw std::length_error("the distinct text is too large");
  if (order == Order::kMostFrequentFirst) {
    std::sort(ids.begin(), ids.end(), [&](uint32_t a, uint32_t b) {
      return segments.count(a) != segments.count(b) ? segments.count(a) > segments.count(b)
                                                    : a < b;
    });
  }

  std::vector<uint32_t> symbol_of(0x110000, kEdge);
  uint64_t characters = 0;
  at_.reserve(positions);
  at_.push_back(kEdge);
  for (const uint32_t id : ids) {
    if (counts_.empty() || counts_.back() != segments.count(id)) {
      begins_.push_back(static_cast<uint32_t>(at_.size()));
      counts_.push_back(segments.count(id));
    }
    for_each_character(segments.text(id), [&](char32_t c) {
      if (symbol_of[c] == kEdge) symbol_of[c] = symbols.add(c);
      at_.push_back(symbol_of[c]);
      characters += segments.count(id);
    });
    at_.push_back(kEdge);
  }
  begins_.push_back(std::numeric_limits<uint32_t>::max());
  return characters;
}

inline void SymbolText::split_into_characters(const Symbols& symbols, uint32_t characters) {
  std::unordered_map<char32_t, uint32_t> symbol_of;
  for (uint32_t symbol = 0; symbol < characters; ++symbol) symbol_of[symbols[symbol][0]] = symbol;
  for (size_t position = 0; position < at_.size();) {
    const uint32_t symbol = at_[position];
    if (symbol == kEdge) {
      ++position;
      continue;
    }
    for (const char32_t c : symbols[symbol]) at_[position++] = symbol_of[c];
  }
}

}  // namespace spmcompat
