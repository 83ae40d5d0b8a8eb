// A priority queue of pairs by their counts.
//
// Pairs are divided into classes by the level of their count (count_levels.hpp). Only the highest
// class that is not empty is a heap. Most pairs are rare and never reach the top: they stay in a
// class that is never sorted, where a pair takes only the memory of its id.
//
// The count of a pair may fall while the pair is in the queue. The queue reads the current count
// when the class of the pair becomes the heap, and when the pair is at the top of the heap. It then
// drops the pair if its count is no longer wanted, even if the count is still in the same class:
// other pairs with that count may be missing, and one of them may have to come first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spmcompat/bpe/count_levels.hpp"

namespace spmcompat {

// The class `Pairs` must have these functions:
// - count(pair): how often the pair occurs now,
// - is_wanted(count): whether pairs with this count stay in the queue,
// - rank(pair): of two pairs with the same count, the one with the lower rank comes first,
// - comes_later(a, b): whether pair a comes after pair b if both have the same count and rank.
template <typename Pairs>
class MergeQueue {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  explicit MergeQueue(Pairs pairs) : pairs_(pairs) {}

  void clear() {
    std::vector<std::vector<uint32_t>>().swap(classes_);
    std::vector<Entry>().swap(heap_);
    end_ = top_ = 0;
  }

  void push(uint64_t count, uint32_t pair) {
    const size_t level = level_of_count(count);
    if (level == top_ && !heap_.empty()) {
      heap_.push_back(entry_of(count, pair));
      std::push_heap(heap_.begin(), heap_.end(), worse());
      return;
    }
    if (level >= classes_.size()) classes_.resize(level + 1);
    classes_[level].push_back(pair);
    end_ = std::max(end_, level + 1);
  }

  // Removes and returns the best pair, or kNone if the queue is empty.
  uint32_t pop() {
    while (order_highest_class()) {
      std::pop_heap(heap_.begin(), heap_.end(), worse());
      const Entry best = heap_.back();
      heap_.pop_back();
      const uint64_t count = pairs_.count(best.pair);
      if (count == best.count) return best.pair;
      if (pairs_.is_wanted(count)) push(count, best.pair);
    }
    return kNone;
  }

 private:
  struct Entry {
    uint64_t count;
    uint64_t rank;
    uint32_t pair;
  };

  Entry entry_of(uint64_t count, uint32_t pair) const { return {count, pairs_.rank(pair), pair}; }

  auto worse() const {
    return [this](const Entry& a, const Entry& b) {
      if (a.count != b.count) return a.count < b.count;
      return a.rank != b.rank ? a.rank > b.rank : pairs_.comes_later(a.pair, b.pair);
    };
  }

  // Makes a heap of the highest class that has pairs. Returns false if all classes are empty.
  bool order_highest_class() {
    if (end_ > top_ + 1) put_back_heap();
    while (heap_.empty()) {
      while (end_ > 0 && classes_[end_ - 1].empty()) --end_;
      if (end_ == 0) return false;
      order(end_ - 1);
    }
    return true;
  }

  void put_back_heap() {
    for (const Entry& entry : heap_) classes_[top_].push_back(entry.pair);
    heap_.clear();
  }

  void order(size_t level) {
    top_ = level;
    end_ = level + 1;
    std::vector<uint32_t> pairs;
    pairs.swap(classes_[level]);
    for (const uint32_t pair : pairs) {
      const uint64_t count = pairs_.count(pair);
      if (!pairs_.is_wanted(count)) continue;
      if (level_of_count(count) == level) {
        heap_.push_back(entry_of(count, pair));
      } else {
        push(count, pair);
      }
    }
    std::make_heap(heap_.begin(), heap_.end(), worse());
  }

  Pairs pairs_;
  std::vector<std::vector<uint32_t>> classes_;
  std::vector<Entry> heap_;
  size_t top_ = 0;  // the class whose pairs are stored in heap_
  size_t end_ = 0;  // class end_ and all higher classes are empty
};

}  // namespace spmcompat
