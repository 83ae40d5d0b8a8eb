// An open-addressing hash table with linear probing: the base of the tables that look up keys.
//
// A slot holds a key and its value. Other tables are built on this one and define their slots:
// what a key is, what an empty slot looks like, and how a slot gives its hash back. The number
// of used slots is also theirs, because most of them number their entries anyway.
//
// A slot is a plain struct. Default constructed, it is empty. It has is_empty() and hash().
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spmcompat {

template <typename Slot>
class OpenTable {
 public:
  // Makes sure that there is an empty slot for one more key: at most two thirds of the slots are
  // used. Call it before each `find` that may lead to a new key, with the number of used slots.
  void make_room(size_t used) {
    if ((used + 1) * 3 > slots_.size() * 2) grow();
  }

  // The slot with this hash for which matches(slot) holds, or the empty slot where it belongs.
  // There must have been a call of make_room.
  template <typename Matches>
  const Slot& find(uint32_t hash, Matches matches) const {
    size_t i = hash & mask_;
    while (!slots_[i].is_empty() && !matches(slots_[i])) i = (i + 1) & mask_;
    return slots_[i];
  }
  template <typename Matches>
  Slot& find(uint32_t hash, Matches matches) {
    return const_cast<Slot&>(static_cast<const OpenTable*>(this)->find(hash, matches));
  }

  // The slot that `find` looks at first. It only exists if the table is not empty.
  const Slot& first_slot(uint32_t hash) const { return slots_[hash & mask_]; }
  void prefetch(uint32_t hash) const { __builtin_prefetch(slots_.data() + (hash & mask_)); }

  // All slots, the empty ones included.
  bool empty() const { return slots_.empty(); }
  auto begin() const { return slots_.begin(); }
  auto end() const { return slots_.end(); }
  auto begin() { return slots_.begin(); }
  auto end() { return slots_.end(); }

  // Frees the memory.
  void clear() { std::vector<Slot>().swap(slots_); }

 private:
  static constexpr size_t kFirstSize = 1024;

  void grow() {
    std::vector<Slot> old(slots_.empty() ? kFirstSize : slots_.size() * 2);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (!slot.is_empty()) find(slot.hash(), [](const Slot&) { return false; }) = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t mask_ = 0;  // the number of slots, a power of two, less one
};

}  // namespace spmcompat
