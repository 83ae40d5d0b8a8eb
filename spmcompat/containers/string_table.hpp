// Distinct byte strings with dense ids, in the order of their first appearance.
//
// The strings lie in fixed blocks that never move, so a view stays valid for the
// life of the table, and growing never holds two copies of the text. A probe
// touches the string itself only when the 32 bits of its hash agree.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace spmcompat {

inline uint32_t mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  return static_cast<uint32_t>(x >> 32);
}

template <typename Word>
uint64_t load(const char* data) {
  Word word;
  std::memcpy(&word, data, sizeof word);
  return word;
}

// The last loads overlap those before, so nothing behind the string is read.
inline uint32_t hash_bytes(const char* data, size_t size) {
  uint64_t h = size * 0x9e3779b97f4a7c15ULL;
  if (size >= 8) {
    for (size_t i = 0; i + 8 < size; i += 8) {
      h = (h ^ load<uint64_t>(data + i)) * 0x9e3779b97f4a7c15ULL;
      h ^= h >> 29;
    }
    h ^= load<uint64_t>(data + size - 8);
  } else if (size >= 4) {
    h ^= load<uint32_t>(data) | load<uint32_t>(data + size - 4) << 32;
  } else if (size > 0) {
    h ^= load<uint8_t>(data) | load<uint8_t>(data + size / 2) << 8 |
         load<uint8_t>(data + size - 1) << 16;
  }
  return mix(h);
}

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

// From hashes to the dense ids of entries that the owner keeps: an open-addressing table.
class SlotIndex {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  // The id of the entry with this hash for which equal(id) holds; else `next`, which is noted.
  template <typename Equal>
  uint32_t find_or_insert(uint32_t hash, uint32_t next, Equal equal) {
    if ((next + size_t{1}) * 3 > slots_.size() * 2) grow();
    for (size_t i = hash & mask_;; i = (i + 1) & mask_) {
      Slot& slot = slots_[i];
      if (slot.id == kNone) {
        slot = {hash, next};
        return next;
      }
      if (slot.hash == hash && equal(slot.id)) return slot.id;
    }
  }

  void prefetch(uint32_t hash) const { __builtin_prefetch(slots_.data() + (hash & mask_)); }
  // What find_or_insert would look at first; kNone where there is nothing.
  uint32_t first_guess(uint32_t hash) const {
    return slots_.empty() ? kNone : slots_[hash & mask_].id;
  }

  void clear() { std::vector<Slot>().swap(slots_); }

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t id = kNone;
  };

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 1024 : slots_.size() * 2);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.id == kNone) continue;
      size_t i = slot.hash & mask_;
      while (slots_[i].id != kNone) i = (i + 1) & mask_;
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t mask_ = 0;
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
  // Keeps no copy: the string must outlive the table.
  uint32_t add_lasting(std::string_view s, uint32_t hash) {
    const uint32_t next = size();
    const uint32_t id = index_.find_or_insert(
        hash, next, [&](uint32_t known) { return strings_[known] == s; });
    if (id == next) strings_.push_back(s);
    return id;
  }

  // Frees what only add needs, until it is restored.
  void drop_index() { index_.clear(); }
  void restore_index() {
    for (uint32_t id = 0; id < size(); ++id) {
      const std::string_view s = strings_[id];
      index_.find_or_insert(hash_bytes(s.data(), s.size()), id, [](uint32_t) { return false; });
    }
  }
  // Frees all but the bytes, which may still be read through views.
  void drop_ids() {
    index_.clear();
    std::vector<std::string_view>().swap(strings_);
  }

 private:
  Arena arena_;
  std::vector<std::string_view> strings_;
  SlotIndex index_;
};

// Byte strings one behind the other. Eight bytes may be read from any of theirs.
class StringList {
 public:
  void reserve(size_t strings, size_t bytes) {
    if (bytes > 0xfffffff0u) {
      throw std::length_error("the distinct segments of the corpus exceed 4 GB");
    }
    text_.reserve(bytes + kPadding);
    end_.reserve(strings);
  }
  // No more than was reserved.
  void add(std::string_view s) {
    text_.resize(bytes());
    text_.append(s);
    end_.push_back(static_cast<uint32_t>(text_.size()));
    text_.append(kPadding, '\0');
  }

  size_t size() const { return end_.size(); }
  uint32_t begin(uint32_t id) const { return id == 0 ? 0 : end_[id - 1]; }
  uint32_t end(uint32_t id) const { return end_[id]; }
  std::string_view operator[](uint32_t id) const {
    return std::string_view(text_.data() + begin(id), end(id) - begin(id));
  }
  const char* text() const { return text_.data(); }
  size_t bytes() const { return end_.empty() ? 0 : end_.back(); }

 private:
  static constexpr size_t kPadding = 8;
  std::string text_;
  std::vector<uint32_t> end_;
};

}  // namespace spmcompat
