// How often each character occurs in the text.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace spmcompat {

class CharacterCounts {
 public:
  void add(char32_t c, uint64_t count) {
    if (c < kBasicPlane) {
      basic_[c] += count;
    } else {
      others_[c] += count;
    }
  }
  void add(const CharacterCounts& other) {
    for (char32_t c = 0; c < kBasicPlane; ++c) basic_[c] += other.basic_[c];
    for (const auto& [c, count] : other.others_) others_[c] += count;
  }
  uint64_t nuls() const { return basic_[0]; }
  // Those that occur, without NUL.
  std::vector<std::pair<char32_t, uint64_t>> counted() const {
    std::vector<std::pair<char32_t, uint64_t>> result;
    for (char32_t c = 1; c < kBasicPlane; ++c) {
      if (basic_[c] > 0) result.emplace_back(c, basic_[c]);
    }
    for (const auto& [c, count] : others_) {
      if (count > 0) result.emplace_back(c, count);
    }
    return result;
  }

 private:
  static constexpr char32_t kBasicPlane = 0x10000;
  std::vector<uint64_t> basic_ = std::vector<uint64_t>(kBasicPlane);
  std::map<char32_t, uint64_t> others_;
};

}  // namespace spmcompat
