// Byte strings, concatenated in one block and numbered in the order in which they are added.
//
// Eight bytes of padding follow the last string, so eight bytes can be read from any position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace spmcompat {

class StringList {
 public:
  // Allocates the memory for `strings` strings that have `bytes` bytes in total.
  void reserve(size_t strings, size_t bytes) {
    if (bytes > 0xfffffff0u) {
      throw std::length_error("the distinct segments of the corpus exceed 4 GB");
    }
    text_.reserve(bytes + kPadding);
    end_.reserve(strings);
  }
  // The strings must not need more memory than was reserved.
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
