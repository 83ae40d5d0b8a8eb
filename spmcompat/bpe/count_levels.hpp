// Divides counts into levels. Each count below 256 is a separate level. Higher counts that agree in
// their eight most significant bits share a level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spmcompat {

constexpr size_t kCountLevels = 58 << 7;

inline size_t level_of_count(uint64_t count) {
  if (count < 256) return count;
  const int shift = 56 - __builtin_clzll(count);
  return (static_cast<size_t>(shift) << 7) + (count >> shift);
}

inline uint64_t least_count_of(size_t level) {
  if (level < 256) return level;
  const size_t shift = (level >> 7) - 1;
  return static_cast<uint64_t>(level - (shift << 7)) << shift;
}

// A histogram of counts by their levels.
class CountLevels {
 public:
  size_t size() const { return size_; }
  void add(uint64_t count) {
    ++levels_[level_of_count(count)];
    ++size_;
  }
  void remove(uint64_t count) {
    --levels_[level_of_count(count)];
    --size_;
  }

  // Returns a threshold that at most `allowed` counts reach or exceed.
  uint64_t reached_by(size_t allowed) const {
    size_t reached = 0;
    for (size_t level = levels_.size(); level-- > 0;) {
      reached += levels_[level];
      if (reached > allowed) return least_count_of(level + 1);
    }
    return 0;
  }

 private:
  std::vector<size_t> levels_ = std::vector<size_t>(kCountLevels);
  size_t size_ = 0;
};

}  // namespace spmcompat
