// The letters of a word, with which the merges of a tokenizer.json begin: the word's bytes or its
// characters, perhaps with an affix. A letter inside a word, and one that ends it, can differ from
// the same character elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/counting/character_counts.hpp"
#include "spmcompat/segments/segment_counts.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

class Letters {
 public:
  static constexpr char32_t kInner = 1 << 21;  // marks a letter that does not begin its word
  static constexpr char32_t kLast = 1 << 22;   // marks a letter that ends its word
  static constexpr size_t kCodes = 1 << 23;

  Letters() = default;
  // With `marks_inner` or `marks_last`, the codes of letters have these marks.
  Letters(bool are_bytes, bool marks_inner, bool marks_last)
      : are_bytes_(are_bytes),
        inner_(marks_inner ? kInner : char32_t{0}),
        last_(marks_last ? kLast : char32_t{0}) {}

  // Drops all letters except these from now on. Codes must not have marks.
  void keep(const std::vector<char32_t>& codes) {
    kept_.assign(kCodePoints, false);
    for (const char32_t code : codes) kept_[code] = true;
  }
  void keep_all() { kept_.clear(); }

  size_t count(std::string_view word) const {
    size_t count = 0;
    for_each(word, [&count](char32_t) { ++count; });
    return count;
  }

  // Calls function(code) for every letter that is not dropped.
  template <typename Function>
  void for_each(std::string_view word, Function function) const {
    for (size_t i = 0, size = 1; i < word.size(); i += size) {
      char32_t code = static_cast<unsigned char>(word[i]);
      if (!are_bytes_) code = decode_utf8(word.data() + i, word.data() + word.size(), &size);
      if (!kept_.empty() && !kept_[code]) continue;
      if (i > 0) code |= inner_;
      if (i + size == word.size()) code |= last_;
      function(code);
    }
  }

 private:
  bool are_bytes_ = true;
  char32_t inner_ = 0, last_ = 0;
  std::vector<bool> kept_;  // the letters that are not dropped; empty if none is
};

// Returns how often each letter occurs in several texts, in the order of the codes.
inline std::vector<std::pair<uint32_t, uint64_t>> count_letters(
    const std::vector<const SegmentCounts*>& texts, const Letters& letters) {
  CharacterCounts counts;
  for (const SegmentCounts* words : texts) {
    words->for_each([&](std::string_view word, uint64_t count) {
      letters.for_each(word, [&](char32_t code) { counts.add(code, count); });
    });
  }
  std::vector<std::pair<uint32_t, uint64_t>> found;
  if (counts.nuls() > 0) found.emplace_back(0, counts.nuls());
  for (const auto& [code, count] : counts.counted()) found.emplace_back(code, count);
  return found;
}

}  // namespace spmcompat
