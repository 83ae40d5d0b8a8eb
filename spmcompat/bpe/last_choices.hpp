// The moving window of parity-aware merges: which languages made the last choices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace spmcompat {

class LastChoices {
 public:
  // `window` is the number of choices that are remembered.
  LastChoices(size_t languages, size_t window) : window_(window), counts_(languages) {}

  // How many of the last choices a language made.
  size_t operator[](uint32_t language) const { return counts_[language]; }

  void add(uint32_t language) {
    choices_.push_back(language);
    ++counts_[language];
    if (choices_.size() <= window_) return;
    --counts_[choices_.front()];
    choices_.pop_front();
  }

 private:
  size_t window_;
  std::deque<uint32_t> choices_;
  std::vector<size_t> counts_;
};

}  // namespace spmcompat
