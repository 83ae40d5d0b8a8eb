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
#include <numeric>
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

  // Fills the text with the characters of the segments, and adds them to `symbols`. Returns the
  // number of characters in the corpus.
  uint64_t fill(const SegmentCounts& segments, Order order, Symbols& symbols);

  // Replaces every symbol by its characters. The symbols of the characters come first.
  void split_into_characters(const Symbols& symbols, uint32_t characters);

  size_t size() const { return at_.size(); }
  // A symbol, a hole or an edge.
  uint32_t operator[](size_t position) const { return at_[position]; }
  static bool is_symbol(uint32_t at) { return !(at & kHole); }

  // How often the segment at a position stands in the corpus.
  uint64_t count_at(uint32_t position) const {
    uint32_t range = first_range_[position / kBlock];
    while (position >= begins_[range + 1]) ++range;
    return counts_[range];
  }

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
  static constexpr uint32_t kBlock = 32;  // positions

  static std::vector<uint32_t> sorted(const SegmentCounts& segments);
  void find_ranges();

  std::vector<uint32_t> at_;
  // Ranges of neighbouring segments with the same count.
  std::vector<uint32_t> begins_;
  std::vector<uint64_t> counts_;
  std::vector<uint32_t> first_range_;  // of each block of positions
};

// Returns the segments by their counts, descending.
inline std::vector<uint32_t> SymbolText::sorted(const SegmentCounts& segments) {
  // Nearly all segments are rare: only the others are compared.
  constexpr uint64_t kRare = 1 << 12;
  // Where the segments of each count begin: first all that are not rare, then by count, descending.
  std::vector<uint32_t> begin(kRare + 1);
  const auto slot_of = [&](uint32_t id) { return kRare - std::min(segments.count(id), kRare); };
  for (uint32_t id = 0; id < segments.size(); ++id) ++begin[slot_of(id)];
  uint32_t next = 0;
  for (uint32_t& size : begin) {
    const uint32_t end = next + size;
    size = next;
    next = end;
  }
  std::vector<uint32_t> ids(segments.size());
  for (uint32_t id = 0; id < ids.size(); ++id) ids[begin[slot_of(id)]++] = id;
  std::sort(ids.begin(), ids.begin() + begin[0], [&](uint32_t a, uint32_t b) {
    return segments.count(a) > segments.count(b);
  });
  return ids;
}

inline void SymbolText::find_ranges() {
  begins_.push_back(std::numeric_limits<uint32_t>::max());
  uint32_t range = 0;
  for (size_t position = 0; position < at_.size() && !counts_.empty(); position += kBlock) {
    while (position >= begins_[range + 1]) ++range;
    first_range_.push_back(range);
  }
}

inline uint64_t SymbolText::fill(const SegmentCounts& segments, Order order, Symbols& symbols) {
  size_t positions = 1;
  for (size_t id = 0; id < segments.size(); ++id) positions += count_chars(segments.text(id)) + 1;
  if (positions >= kHole) throw std::length_error("the distinct text is too large");
  std::vector<uint32_t> ids;
  if (order == Order::kMostFrequentFirst) {
    ids = sorted(segments);
  } else {
    ids.resize(segments.size());
    std::iota(ids.begin(), ids.end(), 0);
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
  find_ranges();
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
