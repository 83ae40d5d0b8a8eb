// Distinct byte strings with dense ids, in the order of their first appearance.
//
// The bytes lie in blocks that never move. So a view stays valid for the life of the table, and
// the text never exists twice while the table grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "spmcompat/containers/hash.hpp"
#include "spmcompat/containers/slot_index.hpp"

namespace spmcompat {

// Memory for bytes, which is freed all at once.
class Arena {
 public:
  const char* store(const char* data, size_t size) {
    if (size > left_) {
      const size_t block = size > kBlock ? size : kBlock;
      blocks_.push_back(std::unique_ptr<char[]>(new char[block]));
      head_ = blocks_.back().get();
      left_ = block;
    }
    char* stored = head_;
    std::memcpy(stored, data, size);
    head_ += size;
    left_ -= size;
    return stored;
  }

 private:
  static constexpr size_t kBlock = 1 << 18;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* head_ = nullptr;
  size_t left_ = 0;
};

class StringTable {
 public:
  uint32_t size() const { return static_cast<uint32_t>(strings_.size()); }
  std::string_view operator[](uint32_t id) const { return strings_[id]; }
  void prefetch(uint32_t id) const { __builtin_prefetch(&strings_[id]); }

  uint32_t add(std::string_view s) { return add(s, hash_bytes(s.data(), s.size())); }
  uint32_t add(std::string_view s, uint32_t hash) {
    const uint32_t known = size();
    const uint32_t id = add_lasting(s, hash);
    if (id == known) strings_[id] = std::string_view(arena_.store(s.data(), s.size()), s.size());
    return id;
  }
  // Makes no copy: the string must outlive the table.
  uint32_t add_lasting(std::string_view s, uint32_t hash) {
    const uint32_t next = size();
    const uint32_t id = index_.find_or_insert(
        hash, next, [&](uint32_t known) { return strings_[known] == s; });
    if (id == next) strings_.push_back(s);
    return id;
  }

  // Frees the index, which only add needs. It must be restored before the next add.
  void drop_index() { index_.clear(); }
  void restore_index() {
    for (uint32_t id = 0; id < size(); ++id) {
      const std::string_view s = strings_[id];
      index_.find_or_insert(hash_bytes(s.data(), s.size()), id, [](uint32_t) { return false; });
    }
  }
  // Frees all but the bytes: views of the strings stay valid.
  void drop_ids() {
    index_.clear();
    std::vector<std::string_view>().swap(strings_);
  }

 private:
  Arena arena_;
  std::vector<std::string_view> strings_;
  SlotIndex index_;
};

}  // namespace spmcompat
