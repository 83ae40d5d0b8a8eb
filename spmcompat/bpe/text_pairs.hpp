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

// The pairs whose left symbols are in one part of a group of symbols.
struct FoundPairs {
  std::vector<Pair> pairs;  // in the order of their left symbols
  PositionArena arena;      // their positions
};

template <typename Policy>
class TextPairs {
 public:
  TextPairs(const SymbolText& text, const Symbols& symbols, const Policy& policy, uint64_t floor,
            size_t parts)
      : text_(text), symbols_(symbols), policy_(policy), floor_(floor), next_(parts) {}

  std::vector<FoundPairs> find(Crew& crew) {
    crew.for_each(parts(), [this](size_t part) { count(part); });
    while (end_ < symbols_.size()) {
      begin_group();
      crew.for_each(parts(), [this](size_t part) { sort(part); });
      crew.for_each(parts(), [this](size_t part) { find(part); });
    }
    return std::move(found_);
  }

 private:
  // Symbols are divided into groups with about the same number of positions, so that not all
  // positions are in memory twice.
  static constexpr size_t kGroups = 2;

  size_t parts() const { return next_.size(); }

  void count(size_t part) {
    std::vector<uint32_t>& counts = next_[part];
    counts.resize(symbols_.size());
    for (size_t position = begin_of(part); position < begin_of(part + 1); ++position) {
      if (SymbolText::is_symbol(text_[position])) ++counts[text_[position]];
    }
  }

  // Chooses the symbols of the next group. Computes at which index of `positions_` the entries of
  // each symbol begin, and where the entries from each part of the text begin among them.
  void begin_group() {
    first_ = end_;
    begin_.clear();
    uint32_t begin = 0;
    while (end_ < symbols_.size() && begin <= text_.size() / kGroups) {
      begin_.push_back(begin);
      for (std::vector<uint32_t>& counts : next_) {
        const uint32_t end = begin + counts[end_];
        counts[end_] = begin;
        begin = end;
      }
      ++end_;
    }
    begin_.push_back(begin);
    positions_.resize(begin);
    found_.resize(found_.size() + parts());
  }

  void sort(size_t part) {
    std::vector<uint32_t>& next = next_[part];
    for (size_t position = begin_of(part); position < begin_of(part + 1); ++position) {
      const uint32_t symbol = text_[position];
      if (symbol - first_ < end_ - first_) {
        positions_[next[symbol]++] = static_cast<uint32_t>(position);
      }
    }
  }

  // Finds the pairs whose left symbols are in a part of the group. The parts have about the same
  // number of positions. In count() and sort(), `part` is a part of the text instead.
  void find(size_t part) {
    PairFinder<Policy> finder(text_, symbols_, policy_);
    FoundPairs& found = found_[found_.size() - parts() + part];
    for (uint32_t i = first_index_of(part); i < first_index_of(part + 1); ++i) {
      finder.find(kRight, first_ + i, positions_.data() + begin_[i], begin_[i + 1] - begin_[i],
                  floor_, found.arena, [&found](const Pair& pair) { found.pairs.push_back(pair); });
    }
  }

  size_t begin_of(size_t part) const { return text_.size() * part / parts(); }
  uint32_t first_index_of(size_t part) const {
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
  uint32_t first_ = 0, end_ = 0;  // the symbols of the group
  // For each symbol of the group: the index of its first entry in `positions_`.
  std::vector<uint32_t> begin_;
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
