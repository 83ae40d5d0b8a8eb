// Finds the ids of entries by their hashes. The owner of the index stores the entries, and numbers
// them in the order in which they are added.
//
// A slot contains 32 bits of the hash. An entry is compared only if these bits are equal.
#pragma once

#include <cstdint>

#include "spmcompat/containers/open_table.hpp"

namespace spmcompat {

class SlotIndex {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  // Returns the id of the entry with this hash for which equal(id) is true. If there is none,
  // inserts and returns `next`, the number of entries so far.
  template <typename Equal>
  uint32_t find_or_insert(uint32_t hash, uint32_t next, Equal equal) {
    Slot& slot = table_.find_or_add(hash, next, [hash, &equal](const Slot& other) {
      return other.stored_hash == hash && equal(other.id);
    });
    if (slot.is_empty()) slot = {hash, next};
    return slot.id;
  }

  // Returns the id of the entry with this hash for which equal(id) is true, or kNone.
  template <typename Equal>
  uint32_t find(uint32_t hash, Equal equal) const {
    if (!table_.has_slots()) return kNone;
    const auto matches = [hash, &equal](const Slot& other) {
      return other.stored_hash == hash && equal(other.id);
    };
    return table_.find(hash, matches).id;
  }

  void prefetch(uint32_t hash) const { table_.prefetch(hash); }
  // Returns the first id that find_or_insert would compare, or kNone.
  uint32_t first_guess(uint32_t hash) const {
    return table_.has_slots() ? table_.first_slot(hash).id : kNone;
  }

  bool has_slots() const { return table_.has_slots(); }
  void clear() { table_.clear(); }
  // The memory that the index takes.
  size_t bytes() const { return table_.bytes(); }

 private:
  struct Slot {
    uint32_t stored_hash = 0;
    uint32_t id = kNone;

    bool is_empty() const { return id == kNone; }
    uint32_t hash() const { return stored_hash; }
  };

  OpenTable<Slot> table_;
};

}  // namespace spmcompat
