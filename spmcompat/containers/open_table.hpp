// An open-addressing hash table with linear probing. Other tables are built on it.
//
// A slot contains a key and its value. The tables that are built on this one define the type of
// their slots. They also count the used slots, because most of them number their entries anyway.
//
// A slot is a plain struct with is_empty() and hash(). A default-constructed slot is empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spmcompat {

template <typename Slot>
class OpenTable {
 public:
  static constexpr size_t kFirstSize = 1024;

  // Creates a table without slots. find_or_add allocates them for the first key.
  OpenTable() = default;
  explicit OpenTable(size_t slots) : slots_(slots), mask_(slots - 1) {}

  // Returns the slot with this hash for which matches(slot) is true, or else an empty slot for the
  // new key. `used` is the number of used slots. The table grows when two thirds are used.
  template <typename Matches>
  Slot& find_or_add(uint32_t hash, size_t used, Matches matches) {
    if ((used + 1) * 3 > slots_.size() * 2) grow();
    return slots_[probe(hash, matches)];
  }

  // Returns the slot with this hash for which matches(slot) is true, or an empty slot. has_slots()
  // must be true.
  template <typename Matches>
  const Slot& find(uint32_t hash, Matches matches) const {
    return slots_[probe(hash, matches)];
  }

  // Returns the slot at which a search for this hash begins. has_slots() must be true.
  const Slot& first_slot(uint32_t hash) const { return slots_[hash & mask_]; }
  void prefetch(uint32_t hash) const { __builtin_prefetch(slots_.data() + (hash & mask_)); }

  bool has_slots() const { return !slots_.empty(); }
  // The memory that the slots take.
  size_t bytes() const { return slots_.capacity() * sizeof(Slot); }
  // Iterates over all slots, including the empty ones.
  auto begin() const { return slots_.begin(); }
  auto end() const { return slots_.end(); }
  auto begin() { return slots_.begin(); }
  auto end() { return slots_.end(); }

  // Frees the memory.
  void clear() { std::vector<Slot>().swap(slots_); }

 private:
  template <typename Matches>
  size_t probe(uint32_t hash, Matches matches) const {
    size_t i = hash & mask_;
    while (!slots_[i].is_empty() && !matches(slots_[i])) i = (i + 1) & mask_;
    return i;
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? kFirstSize : slots_.size() * 2);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.is_empty()) continue;
      slots_[probe(slot.hash(), [](const Slot&) { return false; })] = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t mask_ = 0;  // the number of slots (a power of two) minus one
};

}  // namespace spmcompat
