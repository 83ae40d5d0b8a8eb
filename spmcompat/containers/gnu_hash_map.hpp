// A hash map with the same order of iteration as unordered_map<uint64_t, T> of the GNU C++ library.
//
// Some results of the reference depend on that order, so this map keeps it with every C++ library.
// The order follows from four facts about the GNU C++ library:
// - A number is its own hash. Its bucket is the number modulo the number of buckets, a prime.
// - All entries are in one list, in which the entries of a bucket are next to each other.
// - A new entry becomes the first entry of its bucket. If the bucket is empty, it becomes the first
//   entry of the list.
// - If there would be more entries than buckets, the number of buckets grows to the next prime in a
//   table. Then all entries are added again, in the order of the list.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace spmcompat {

template <typename T>
class GnuHashMap {
 public:
  GnuHashMap() : entries_(1), before_(1, kNone) {}

  size_t size() const { return size_; }

  // Does nothing if the map already contains the key.
  void insert(uint64_t key, T value) {
    if (find_before(key) != kNone) return;
    if (size_ == limit_) grow();
    uint32_t index = free_;
    if (index == kNone) {
      if (entries_.size() >= kNone) throw std::length_error("too many entries");
      index = static_cast<uint32_t>(entries_.size());
      entries_.emplace_back();
    } else {
      free_ = entries_[index].next;
    }
    entries_[index].key = key;
    entries_[index].value = std::move(value);
    link(index);
    ++size_;
  }

  // Does nothing if the map does not contain the key.
  void erase(uint64_t key) {
    const uint32_t before = find_before(key);
    if (before == kNone) return;
    const uint32_t erased = entries_[before].next;
    const uint32_t next = entries_[erased].next;
    const size_t bucket = bucket_of(erased);
    const bool is_first = before_[bucket] == before;
    const bool is_last = next == kEnd || bucket_of(next) != bucket;
    if (is_last && next != kEnd) before_[bucket_of(next)] = before;
    if (is_first && is_last) before_[bucket] = kNone;
    entries_[before].next = next;
    entries_[erased].next = std::exchange(free_, erased);
    --size_;
  }

  // Calls function(key, value) for all entries, in the iteration order of the GNU C++ library.
  template <typename Function>
  void for_each(Function function) const {
    for (uint32_t i = entries_[kEnd].next; i != kEnd; i = entries_[i].next) {
      function(entries_[i].key, entries_[i].value);
    }
  }

 private:
  // The list is circular. Entry 0 is a sentinel, not an entry of the map: it comes before the first
  // entry and after the last one.
  static constexpr uint32_t kEnd = 0;
  static constexpr uint32_t kNone = 0xffffffffu;

  // The numbers of buckets of a map that grows by one entry at a time.
  static constexpr std::array<uint32_t, 28> kBuckets = {
      13,       29,        59,        127,       257,       541,        1109,
      2357,     5087,      10273,     20753,     42043,     85229,      172933,
      351061,   712697,    1447153,   2938679,   5967347,   12117689,   24607243,
      49969847, 101473717, 206062531, 418451333, 849749479, 1725587117, 3504151727};

  struct Entry {
    uint64_t key = 0;
    T value{};
    uint32_t next = kEnd;
  };

  size_t bucket_of(uint32_t index) const { return entries_[index].key % before_.size(); }

  // Returns the index of the entry that precedes the entry with this key, or kNone.
  uint32_t find_before(uint64_t key) const {
    const size_t bucket = key % before_.size();
    uint32_t before = before_[bucket];
    if (before == kNone) return kNone;
    for (uint32_t i = entries_[before].next; i != kEnd && bucket_of(i) == bucket;) {
      if (entries_[i].key == key) return before;
      before = std::exchange(i, entries_[i].next);
    }
    return kNone;
  }

  void link(uint32_t index) {
    const size_t bucket = bucket_of(index);
    uint32_t& before = before_[bucket];
    if (before != kNone) {
      entries_[index].next = std::exchange(entries_[before].next, index);
      return;
    }
    const uint32_t next = entries_[index].next = std::exchange(entries_[kEnd].next, index);
    before = kEnd;
    if (next != kEnd) before_[bucket_of(next)] = index;
  }

  void grow() {
    const auto larger = std::upper_bound(kBuckets.begin(), kBuckets.end(), limit_);
    if (larger == kBuckets.end()) throw std::length_error("too many entries");
    before_.assign(*larger, kNone);
    limit_ = *larger;
    uint32_t index = std::exchange(entries_[kEnd].next, kEnd);
    while (index != kEnd) {
      const uint32_t next = entries_[index].next;
      link(index);
      index = next;
    }
  }

  std::vector<Entry> entries_;    // includes free entries, which are linked from free_
  std::vector<uint32_t> before_;  // for each bucket: the entry before its first entry
  uint32_t free_ = kNone;
  size_t size_ = 0;
  size_t limit_ = 0;  // the number of entries at which the map grows
};

}  // namespace spmcompat
