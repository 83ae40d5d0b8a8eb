// The symbols of byte-pair encoding: characters, and merges of two symbols.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

// Maps characters to their symbols.
class CharacterSymbols {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  uint32_t& operator[](char32_t c) {
    if (c < kBasicPlane) return basic_[c];
    return others_.try_emplace(c, kNone).first->second;
  }
  // The character must have a symbol.
  uint32_t at(char32_t c) const { return c < kBasicPlane ? basic_[c] : others_.at(c); }

 private:
  static constexpr char32_t kBasicPlane = 0x10000;
  std::vector<uint32_t> basic_ = std::vector<uint32_t>(kBasicPlane, kNone);
  std::unordered_map<char32_t, uint32_t> others_;
};

class Symbols {
 public:
  uint32_t size() const { return static_cast<uint32_t>(begin_.size() - 1); }
  // The number of characters in a symbol.
  uint32_t length(uint32_t id) const { return static_cast<uint32_t>(begin_[id + 1] - begin_[id]); }
  std::u32string_view operator[](uint32_t id) const {
    return std::u32string_view(text_).substr(begin_[id], length(id));
  }

  uint32_t add(char32_t character) {
    text_.push_back(character);
    return close();
  }
  uint32_t add(std::u32string_view text) {
    text_.append(text);
    return close();
  }
  uint32_t add(uint32_t left, uint32_t right) {
    for (const uint32_t part : {left, right}) {
      // Uses indexes, because text_ may move in memory when it grows.
      for (uint64_t i = begin_[part]; i < begin_[part + 1]; ++i) text_.push_back(text_[i]);
    }
    return close();
  }

  // Keeps the first `size` symbols and drops all other symbols.
  void keep(uint32_t size) {
    begin_.resize(size + 1);
    text_.resize(begin_.back());
  }

  std::string utf8(uint32_t id) const {
    std::string bytes;
    for (const char32_t c : (*this)[id]) append_utf8(c, bytes);
    return bytes;
  }

  // Whether the joined text of two symbols comes before the joined text of two other symbols, in
  // the order of bytes. UTF-8 preserves the order of code points, so code points are compared.
  bool precedes(uint32_t left, uint32_t right, uint32_t other_left, uint32_t other_right) const {
    const std::u32string_view a = (*this)[left], b = (*this)[right];
    const std::u32string_view c = (*this)[other_left], d = (*this)[other_right];
    const size_t size = a.size() + b.size(), other_size = c.size() + d.size();
    for (size_t i = 0; i < std::min(size, other_size); ++i) {
      const char32_t x = i < a.size() ? a[i] : b[i - a.size()];
      const char32_t y = i < c.size() ? c[i] : d[i - c.size()];
      if (x != y) return x < y;
    }
    return size < other_size;
  }

 private:
  uint32_t close() {
    begin_.push_back(text_.size());
    return size() - 1;
  }

  std::u32string text_;
  std::vector<uint64_t> begin_{0};
};

}  // namespace spmcompat
