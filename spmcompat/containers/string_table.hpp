// Distinct byte strings with dense ids, in the order of their first appearance.
//
// The bytes are stored in blocks that never move, so a view stays valid for the life of the table,
// and a growing table never copies the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "spmcompat/containers/arena.hpp"
#include "spmcompat/containers/hash.hpp"
#include "spmcompat/containers/slot_index.hpp"

namespace spmcompat {

class StringTable {
 public:
  uint32_t size() const { return static_cast<uint32_t>(strings_.size()); }
  std::string_view operator[](uint32_t id) const { return strings_[id]; }
  void prefetch(uint32_t id) const { __builtin_prefetch(&strings_[id]); }
  // Prefetches the slot at which `add` will look up this hash.
  void prefetch_hash(uint32_t hash) const { index_.prefetch(hash); }

  uint32_t add(std::string_view s) { return add(s, hash_bytes(s.data(), s.size())); }
  uint32_t add(std::string_view s, uint32_t hash) {
    const uint32_t known = size();
    const uint32_t id = add_lasting(s, hash);
    if (id == known) strings_[id] = stored(s);
    return id;
  }
  // Adds a string without copying it. The string must outlive the table.
  uint32_t add_lasting(std::string_view s, uint32_t hash) {
    const uint32_t next = size();
    if (next > 0 && !index_.has_slots()) restore_index();
    const uint32_t id =
        index_.find_or_insert(hash, next, [&](uint32_t known) { return strings_[known] == s; });
    if (id == next) strings_.push_back(s);
    return id;
  }

  // The memory that the table takes.
  size_t bytes() const {
    return bytes_.bytes() + strings_.capacity() * sizeof(std::string_view) + index_.bytes();
  }

  // Frees the index, which only add() needs. The next add() creates it again.
  void drop_index() { index_.clear(); }
  // Frees everything except the bytes of the strings, so that views of the strings stay valid.
  void drop_ids() {
    index_.clear();
    std::vector<std::string_view>().swap(strings_);
  }

 private:
  [[gnu::noinline]] void restore_index() {
    for (uint32_t id = 0; id < size(); ++id) {
      const std::string_view s = strings_[id];
      index_.find_or_insert(hash_bytes(s.data(), s.size()), id, [](uint32_t) { return false; });
    }
  }
  std::string_view stored(std::string_view s) {
    char* bytes = bytes_.reserve(s.size());
    std::memcpy(bytes, s.data(), s.size());
    return {bytes, s.size()};
  }

  Arena<char, 1 << 18> bytes_;
  std::vector<std::string_view> strings_;
  SlotIndex index_;
};

}  // namespace spmcompat
