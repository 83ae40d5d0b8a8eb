// The pairs of neighbouring symbols, with their counts and positions.
#pragma once

#include <algorithm>
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
  const uint16_t* positions;  // where the pair occurs; some positions may be outdated
  uint32_t size;              // the number of positions
};

// Memory for the lists of positions. A list is ascending, and contains the difference between each
// position and the one before: in one unit if it has at most 15 bits, otherwise in two, of which the
// highest bit is set.
using PositionArena = Arena<uint16_t, 1 << 17>;

// Returns a limit of the units that a list takes: a text of this size has few large differences.
inline size_t most_units(size_t positions, size_t text_size) {
  return positions + std::min(positions, text_size / 0x8000);
}
inline void write_difference(uint32_t difference, uint16_t*& to) {
  if (difference >= 0x8000) *to++ = static_cast<uint16_t>(0x8000 | difference >> 16);
  *to++ = static_cast<uint16_t>(difference);
}
inline void read_positions(const Pair& pair, std::vector<uint32_t>& positions) {
  positions.resize(pair.size);
  const uint16_t* from = pair.positions;
  uint32_t position = 0;
  for (uint32_t& read : positions) {
    uint32_t difference = *from++;
    if (difference >= 0x8000) difference = (difference & 0x7fff) << 16 | *from++;
    read = position += difference;
  }
}

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
