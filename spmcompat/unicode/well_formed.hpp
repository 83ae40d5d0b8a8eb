// Checks whether a text is well-formed UTF-8.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

inline bool is_utf8(std::string_view whole) {
  const char* text = whole.data();
  const char* const end = text + whole.size();
  while (text < end) {
    uint64_t eight;
    if (end - text >= 8 && (std::memcpy(&eight, text, 8), (eight & 0x8080808080808080) == 0)) {
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
