// A priority queue of pairs by their counts.
//
// Entries are divided into classes by the power of two of their count. Only the highest class that
// is not empty is a heap. Most pairs are rare and never reach the top: they stay in a class that is
// never ordered, where each costs no more than an entry in a list.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace spmcompat {

// Later()(a, b) says whether pair a comes after pair b if both have the same count.
template <typename Later>
class MergeQueue {
 public:
  struct Entry {
    uint64_t count;
    uint32_t pair;
  };

  explicit MergeQueue(Later later) : later_(later) {}

  bool empty() const { return size_ == 0; }

  void clear() {
    for (std::vector<Entry>& entries : classes_) std::vector<Entry>().swap(entries);
    top_ = size_ = 0;
  }

  void push(uint64_t count, uint32_t pair) {
    const size_t power = power_of(count);
    std::vector<Entry>& entries = classes_[power];
    entries.push_back({count, pair});
    ++size_;
    if (power > top_) {
      order(power);
    } else if (power == top_) {
      std::push_heap(entries.begin(), entries.end(), worse());
    }
  }

  Entry pop() {
    size_t power = top_;
    while (classes_[power].empty()) --power;
    if (power != top_) order(power);
    std::vector<Entry>& entries = classes_[power];
    std::pop_heap(entries.begin(), entries.end(), worse());
    const Entry best = entries.back();
    entries.pop_back();
    --size_;
    return best;
  }

 private:
  static size_t power_of(uint64_t count) { return count == 0 ? 0 : 64 - __builtin_clzll(count); }

  auto worse() const {
    return [this](const Entry& a, const Entry& b) {
      return a.count != b.count ? a.count < b.count : later_(a.pair, b.pair);
    };
  }

  void order(size_t power) {
    top_ = power;
    std::make_heap(classes_[power].begin(), classes_[power].end(), worse());
  }

  Later later_;
  std::array<std::vector<Entry>, 65> classes_;
  size_t top_ = 0;  // this class is a heap, and no class above it has entries
  size_t size_ = 0;
};

}  // namespace spmcompat
