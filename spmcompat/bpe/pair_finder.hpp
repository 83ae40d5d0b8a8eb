// Finds the pairs of a symbol with its neighbours, their counts and their positions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spmcompat/bpe/pairs.hpp"
#include "spmcompat/bpe/symbol_text.hpp"
#include "spmcompat/bpe/symbols.hpp"

namespace spmcompat {

enum Side { kLeft, kRight };

constexpr size_t kAhead = 16;  // memory is prefetched this number of positions ahead

template <typename Policy>
class PairFinder {
 public:
  // The text and the symbols must outlive the finder.
  PairFinder(const SymbolText& text, const Symbols& symbols, const Policy& policy)
      : text_(text), symbols_(symbols), policy_(policy) {}

  // Finds the pairs of a symbol, which occurs at `positions`, with its neighbours on one side.
  // Calls function(pair) for every pair whose count is `floor` or higher and that the policy
  // allows. The pair of the symbol with itself is only found on the right side. The positions of the
  // pairs are stored in the arena.
  template <typename Function>
  void find(Side side, uint32_t symbol, const uint32_t* positions, size_t size, uint64_t floor,
            PositionArena& arena, Function function) {
    if (tallies_.size() < symbols_.size()) tallies_.resize(symbols_.size());
    tally(side, symbol, positions, size);
    for (const uint32_t other : tallied_) {
      Tally& tally = tallies_[other];
      const uint32_t left = side == kLeft ? other : symbol;
      const uint32_t right = side == kLeft ? symbol : other;
      if (tally.count < floor || !policy_.allows(left, right)) continue;
      tally.positions = arena.reserve(most_units(tally.size, text_.size()));
      function(Pair{left, right, tally.count, tally.positions, tally.size});
    }
    for (size_t i = 0; i < size; ++i) {
      if (!SymbolText::is_symbol(neighbours_[i])) continue;
      Tally& tally = tallies_[neighbours_[i]];
      if (tally.positions == nullptr) continue;
      const uint32_t begin =
          side == kLeft ? positions[i] - text_.width(neighbours_[i]) : positions[i];
      write_difference(begin - tally.last, tally.positions);
      tally.last = begin;
    }
    for (const uint32_t other : tallied_) tallies_[other] = Tally();
  }

 private:
  // The sums for one neighbour of the given symbol, over the positions where the two are adjacent.
  struct Tally {
    uint64_t count = 0;
    uint32_t size = 0;
    uint32_t last = 0;  // the last position in the list
    uint16_t* positions = nullptr;
  };

  void tally(Side side, uint32_t symbol, const uint32_t* positions, size_t size) {
    const uint32_t width = text_.width(symbol);
    neighbours_.resize(size);
    tallied_.clear();
    for (size_t i = 0; i < size; ++i) {
      if (i + kAhead < size) text_.prefetch(positions[i + kAhead]);
      const uint32_t other =
          text_[side == kLeft ? text_.position_before(positions[i]) : positions[i] + width];
      neighbours_[i] = other;
      if (!SymbolText::is_symbol(other) || (side == kLeft && other == symbol)) continue;
      Tally& tally = tallies_[other];
      if (tally.size++ == 0) tallied_.push_back(other);
      tally.count += text_.count_at(positions[i]);
    }
  }

  const SymbolText& text_;
  const Symbols& symbols_;
  Policy policy_;

  // Working memory, which is kept so that not every call has to allocate it.
  std::vector<Tally> tallies_;     // the tally of each symbol
  std::vector<uint32_t> tallied_;  // the symbols that have a tally
  std::vector<uint32_t> neighbours_;
};

}  // namespace spmcompat
