// The pairs of neighbouring symbols: their counts, where they stand, and how to find them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "spmcompat/containers/string_table.hpp"

namespace spmcompat {

struct Pair {
  uint32_t left, right;
  uint64_t count;
  const uint32_t* places;
  uint32_t size;  // of the list of places, of which some may be outdated
};

// Lists of numbers that never move.
class PlaceArena {
 public:
  uint32_t* reserve(size_t size) {
    if (size > left_) {
      left_ = std::max(size, kBlock);
      blocks_.push_back(std::unique_ptr<uint32_t[]>(new uint32_t[left_]));
      head_ = blocks_.back().get();
    }
    uint32_t* list = head_;
    head_ += size;
    left_ -= size;
    return list;
  }

 private:
  static constexpr size_t kBlock = 1 << 16;
  std::vector<std::unique_ptr<uint32_t[]>> blocks_;
  uint32_t* head_ = nullptr;
  size_t left_ = 0;
};

// From two symbols to the dense id of their pair.
class PairIndex {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  void insert(uint32_t left, uint32_t right, uint32_t pair) {
    if ((used_ + 1) * 3 > slots_.size() * 2) grow();
    slots_[probe(left, right)] = {left, right, pair};
    ++used_;
  }
  uint32_t find(uint32_t left, uint32_t right) const { return slots_[probe(left, right)].pair; }

 private:
  struct Slot {
    uint32_t left, right, pair;
  };
  static constexpr Slot kEmpty{0, 0, kNone};

  size_t probe(uint32_t left, uint32_t right) const {
    const size_t mask = slots_.size() - 1;
    size_t i = mix((static_cast<uint64_t>(left) << 32) | right) & mask;
    while (slots_[i].pair != kNone && (slots_[i].left != left || slots_[i].right != right)) {
      i = (i + 1) & mask;
    }
    return i;
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2, kEmpty);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.pair != kNone) slots_[probe(slot.left, slot.right)] = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1024, kEmpty);
  size_t used_ = 0;
};

}  // namespace spmcompat
