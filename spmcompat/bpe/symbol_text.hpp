// The text that is merged: every distinct segment once, as an array of symbols.
//
// At first, every symbol is a character and takes one position. A merged symbol takes the positions
// of both its parts and is stored at the first of them. The other positions are holes, so a merge
// does not move anything. The last hole of a symbol stores the distance to the position of the
// symbol, so the symbol before a position is found in one step. Packing the text removes the holes.
// There is an edge before and after every segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "spmcompat/bpe/symbols.hpp"
#include "spmcompat/containers/uncleared_array.hpp"

namespace spmcompat {

class SymbolText {
 public:
  // Removes the holes. Symbols move, but keep their order.
  void pack(const Symbols& symbols) {
    uint32_t range = 0;
    size_t packed = 0;
    for (size_t position = 0; position < size(); ++position) {
      if (position == begins_[range]) begins_[range++] = static_cast<uint32_t>(packed);
      if (is_symbol(at_[position]) || at_[position] == kEdge) at_[packed++] = at_[position];
    }
    at_.resize(packed);
    find_ranges();
    widths_.assign(symbols.size(), 1);
  }

  // Replaces every symbol with its characters. A symbol below `characters` is a character.
  void split_into_characters(const Symbols& symbols, uint32_t characters) {
    CharacterSymbols symbol_of;
    for (uint32_t symbol = 0; symbol < characters; ++symbol) symbol_of[symbols[symbol][0]] = symbol;
    pack(symbols);
    widths_.resize(characters);
    size_t position = size(), split = 0;
    for (size_t i = 0; i < position; ++i) split += is_symbol(at_[i]) ? symbols.length(at_[i]) : 1;
    at_.resize(split);
    // The loop runs backwards, so that it reads every symbol before it overwrites it.
    size_t range = counts_.size();
    while (position-- > 0) {
      if (!is_symbol(at_[position])) {
        at_[--split] = kEdge;
      } else {
        const std::u32string_view text = symbols[at_[position]];
        for (size_t i = text.size(); i-- > 0;) at_[--split] = symbol_of.at(text[i]);
      }
      if (range > 0 && position == begins_[range - 1])
        begins_[--range] = static_cast<uint32_t>(split);
    }
    find_ranges();
  }

  size_t size() const { return at_.size(); }
  // Returns what a position stores: a symbol, a hole or an edge.
  uint32_t operator[](size_t position) const { return at_[position]; }
  void prefetch(size_t position) const { __builtin_prefetch(at_.data() + position); }
  static bool is_symbol(uint32_t at) { return !(at & kHole); }
  static bool is_edge(uint32_t at) { return at == kEdge; }

  // The number of positions that a symbol takes.
  uint32_t width(uint32_t symbol) const { return widths_[symbol]; }

  // How often the segment at a position occurs in the corpus.
  uint64_t count_at(uint32_t position) const {
    uint32_t range = first_range_[position / kBlock];
    while (position >= begins_[range + 1]) ++range;
    return counts_[range];
  }

  // Returns the position of the symbol before `position`. For the first symbol of a segment,
  // returns the position of the edge before the segment.
  uint32_t position_before(uint32_t position) const {
    const uint32_t at = at_[position - 1];
    return is_symbol(at) || at == kEdge ? position - 1 : position - 1 - (at & ~kHole);
  }

  // Adds a symbol that takes the positions of its two parts. The text then knows all symbols up to
  // it; those that it did not know before must be single characters.
  void add_symbol(uint32_t symbol, uint32_t left, uint32_t right) {
    widths_.resize(symbol + 1, 1);
    widths_[symbol] = widths_[left] + widths_[right];
  }

  // Replaces two neighbouring symbols with a merged one. `left_width` is the number of positions of
  // the first symbol, and `width` the number of positions of both.
  void merge(uint32_t position, uint32_t merged, uint32_t left_width, uint32_t width) {
    at_[position] = merged;
    at_[position + left_width] = kHole | left_width;
    at_[position + width - 1] = kHole | (width - 1);
  }

 private:
  template <typename Letters>
  friend class TextFiller;

  // The lower bits of a hole contain the distance to the position of its symbol.
  static constexpr uint32_t kHole = 0x80000000u;
  static constexpr uint32_t kEdge = 0xffffffffu;
  static constexpr uint32_t kBlock = 32;  // the number of positions in a block of first_range_

  // TextFiller calls begin_filling, then writes all positions after the first edge and the ranges
  // of segments with the same count, and then calls end_filling.
  void begin_filling(size_t size) {
    if (size >= kHole) throw std::overflow_error("the text without repetitions is too large");
    at_.resize(size);
    at_[0] = kEdge;
  }

  void end_filling(const Symbols& symbols) {
    begins_.push_back(std::numeric_limits<uint32_t>::max());
    find_ranges();
    widths_.assign(symbols.size(), 1);
  }

  void find_ranges() {
    first_range_.clear();
    uint32_t range = 0;
    for (size_t position = 0; position < size() && !counts_.empty(); position += kBlock) {
      while (position >= begins_[range + 1]) ++range;
      first_range_.push_back(range);
    }
  }

  UnclearedArray<uint32_t> at_;
  std::vector<uint32_t> widths_;  // symbol -> its number of positions
  // Neighbouring segments with the same count form a range. `begins_` has the first position of
  // each range, and `counts_` its count.
  std::vector<uint32_t> begins_;
  std::vector<uint64_t> counts_;
  std::vector<uint32_t> first_range_;  // the first range of each block of positions
};

}  // namespace spmcompat
