// Finds all pairs of a text. Workers share the work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "spmcompat/bpe/pair_finder.hpp"
#include "spmcompat/bpe/pairs.hpp"
#include "spmcompat/bpe/symbol_text.hpp"
#include "spmcompat/bpe/symbols.hpp"
#include "spmcompat/runtime/crew.hpp"

namespace spmcompat {

// The pairs whose left symbols are in one part of the symbols.
struct FoundPairs {
  std::vector<Pair> pairs;  // in the order of their left symbols
  PositionArena arena;      // their positions
};

template <typename Policy>
class TextPairs {
 public:
  TextPairs(const SymbolText& text, const Symbols& symbols, const Policy& policy, uint64_t floor,
            size_t parts)
      : text_(text),
        symbols_(symbols),
        policy_(policy),
        floor_(floor),
        next_(parts),
        found_(parts) {}

  std::vector<FoundPairs> find(Crew& crew) {
    crew.for_each(parts(), [this](size_t part) { count(part); });
    divide();
    crew.for_each(parts(), [this](size_t part) { sort(part); });
    crew.for_each(parts(), [this](size_t part) { find(part); });
    return std::move(found_);
  }

 private:
  size_t parts() const { return found_.size(); }

  void count(size_t part) {
    std::vector<uint32_t>& counts = next_[part];
    counts.resize(symbols_.size());
    for (size_t position = begin_of(part); position < begin_of(part + 1); ++position) {
      if (SymbolText::is_symbol(text_[position])) ++counts[text_[position]];
    }
  }

  // Computes at which index of `positions_` the entries of each symbol begin, and where the entries
  // from each part of the text begin among them.
  void divide() {
    begin_.reserve(symbols_.size() + 1);
    uint32_t begin = 0;
    for (uint32_t symbol = 0; symbol < symbols_.size(); ++symbol) {
      begin_.push_back(begin);
      for (std::vector<uint32_t>& counts : next_) {
        const uint32_t end = begin + counts[symbol];
        counts[symbol] = begin;
        begin = end;
      }
    }
    begin_.push_back(begin);
    positions_.resize(begin);
  }

  void sort(size_t part) {
    std::vector<uint32_t>& next = next_[part];
    for (size_t position = begin_of(part); position < begin_of(part + 1); ++position) {
      const uint32_t symbol = text_[position];
      if (SymbolText::is_symbol(symbol)) {
        positions_[next[symbol]++] = static_cast<uint32_t>(position);
      }
    }
    std::vector<uint32_t>().swap(next);
  }

  // Finds the pairs whose left symbols are in a part of the symbols. The parts have about the same
  // number of positions. In count() and sort(), `part` is a part of the text instead.
  void find(size_t part) {
    PairFinder<Policy> finder(text_, symbols_, policy_);
    FoundPairs& found = found_[part];
    for (uint32_t symbol = first_symbol_of(part); symbol < first_symbol_of(part + 1); ++symbol) {
      const size_t size = begin_[symbol + 1] - begin_[symbol];
      finder.find(kRight, symbol, positions_.data() + begin_[symbol], size, floor_, found.arena,
                  [&found](const Pair& pair) { found.pairs.push_back(pair); });
    }
  }

  size_t begin_of(size_t part) const { return text_.size() * part / parts(); }
  uint32_t first_symbol_of(size_t part) const {
    const size_t first = positions_.size() * part / parts();
    const auto end = part == parts() ? begin_.end() - 1
                                     : std::lower_bound(begin_.begin(), begin_.end() - 1, first);
    return static_cast<uint32_t>(end - begin_.begin());
  }

  const SymbolText& text_;
  const Symbols& symbols_;
  const Policy& policy_;
  uint64_t floor_;
  // For each part of the text and each symbol: at first, the number of occurrences; later, the
  // index in `positions_` at which the position of the next occurrence is stored.
  std::vector<std::vector<uint32_t>> next_;
  std::vector<uint32_t> begin_;  // for each symbol: the index of its first entry in `positions_`
  std::vector<uint32_t> positions_;  // sorted by symbol
  std::vector<FoundPairs> found_;
};

// Returns the pairs of a text, divided into parts. Read part after part, the pairs are in the order
// of their left symbols. Pairs whose count is below `floor`, and those that the policy does not
// allow, are left out. The text must not contain holes.
template <typename Policy>
std::vector<FoundPairs> find_pairs(const SymbolText& text, const Symbols& symbols,
                                   const Policy& policy, uint64_t floor, Crew& crew) {
  return TextPairs<Policy>(text, symbols, policy, floor, crew.size()).find(crew);
}

}  // namespace spmcompat
