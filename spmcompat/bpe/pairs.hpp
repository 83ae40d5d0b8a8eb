// The pairs of neighbouring symbols: their counts, their positions, and how to find them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spmcompat/containers/arena.hpp"
#include "spmcompat/containers/hash.hpp"
#include "spmcompat/containers/open_table.hpp"

namespace spmcompat {

struct Pair {
  uint32_t left, right;
  uint64_t count;
  const uint32_t* positions;  // some may be outdated
  uint32_t size;  // of the list of positions
};

// The lists of positions.
using PositionArena = Arena<uint32_t, 1 << 16>;

// From two symbols to the dense id of their pair.
class PairIndex {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  void insert(uint32_t left, uint32_t right, uint32_t pair) {
    table_.find_or_add(hash_pair(left, right), used_++, Equal{left, right}) = {left, right, pair};
  }
  uint32_t find(uint32_t left, uint32_t right) const {
    return table_.find(hash_pair(left, right), Equal{left, right}).pair;
  }

 private:
  struct Slot {
    uint32_t left = 0, right = 0;
    uint32_t pair = kNone;

    bool is_empty() const { return pair == kNone; }
    uint32_t hash() const { return hash_pair(left, right); }
  };
  struct Equal {
    uint32_t left, right;
    bool operator()(const Slot& slot) const { return slot.left == left && slot.right == right; }
  };

  OpenTable<Slot> table_{OpenTable<Slot>::kFirstSize};
  size_t used_ = 0;
};

}  // namespace spmcompat
