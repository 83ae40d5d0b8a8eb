// Checks whether a text is well-formed UTF-8.
#pragma once

#include <string_view>

#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

inline bool is_utf8(std::string_view whole) {
  const char* text = whole.data();
  const char* const end = text + whole.size();
  while (text < end) {
    if (has_eight_ascii(text, end)) {
      text += 8;
      continue;
    }
    size_t size;
    if (decode_utf8(text, end, &size) == kReplacement && size == 1) return false;
    text += size;
  }
  return true;
}

}  // namespace spmcompat
