// How often each character occurs in the text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

class CharacterCounts {
 public:
  void add(char32_t c, uint64_t count) {
    if (c / kPage >= pages_.size()) pages_.resize(c / kPage + 1);
    std::unique_ptr<Page>& page = pages_[c / kPage];
    if (!page) page = std::make_unique<Page>();
    (*page)[c % kPage] += count;
  }
  void add(const CharacterCounts& other) {
    other.for_each([this](char32_t c, uint64_t count) { add(c, count); });
  }
  uint64_t nuls() const { return pages_.empty() || !pages_[0] ? 0 : (*pages_[0])[0]; }
  // Returns every character that occurs, except NUL, with its count.
  std::vector<std::pair<char32_t, uint64_t>> counted() const {
    std::vector<std::pair<char32_t, uint64_t>> result;
    for_each([&result](char32_t c, uint64_t count) {
      if (c > 0) result.emplace_back(c, count);
    });
    return result;
  }

 private:
  // A text uses characters of only a few pages, so a page is allocated when it is first used.
  static constexpr size_t kPage = 256;
  using Page = std::array<uint64_t, kPage>;

  template <typename Function>
  void for_each(Function function) const {
    for (size_t i = 0; i < pages_.size(); ++i) {
      for (size_t j = 0; pages_[i] && j < kPage; ++j) {
        const uint64_t count = (*pages_[i])[j];
        if (count > 0) function(static_cast<char32_t>(i * kPage + j), count);
      }
    }
  }

  // Only `add` allocates this vector. The constructor must not allocate it, because Cython could not
  // catch an exception of the constructor.
  std::vector<std::unique_ptr<Page>> pages_;
};

inline CharacterCounts sum_of(const std::vector<CharacterCounts>& counts) {
  CharacterCounts sum;
  for (const CharacterCounts& one : counts) sum.add(one);
  return sum;
}

}  // namespace spmcompat
