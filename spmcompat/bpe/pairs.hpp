// The pairs of neighbouring symbols, with their counts and positions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spmcompat/containers/arena.hpp"
#include "spmcompat/containers/hash.hpp"
#include "spmcompat/containers/slot_index.hpp"

namespace spmcompat {

struct Pair {
  uint32_t left, right;
  uint64_t count;
  const uint32_t* positions;  // where the pair occurs; some positions may be outdated
  uint32_t size;              // the number of positions
};

// Memory for the lists of positions.
using PositionArena = Arena<uint32_t, 1 << 16>;

// Pairs with dense ids, in the order in which they are added.
class PairTable {
 public:
  static constexpr uint32_t kNone = SlotIndex::kNone;

  size_t size() const { return pairs_.size(); }
  Pair& operator[](uint32_t id) { return pairs_[id]; }
  const Pair& operator[](uint32_t id) const { return pairs_[id]; }

  void reserve(size_t pairs) { pairs_.reserve(pairs); }

  // Adds a pair of symbols that is not in the table, and returns its id.
  uint32_t add(const Pair& pair) {
    const auto id = static_cast<uint32_t>(pairs_.size());
    index_.find_or_insert(hash_pair(pair.left, pair.right), id, [](uint32_t) { return false; });
    pairs_.push_back(pair);
    return id;
  }
  uint32_t find(uint32_t left, uint32_t right) const {
    return index_.find(hash_pair(left, right), [&](uint32_t id) {
      return pairs_[id].left == left && pairs_[id].right == right;
    });
  }

 private:
  std::vector<Pair> pairs_;
  SlotIndex index_;
};

}  // namespace spmcompat
