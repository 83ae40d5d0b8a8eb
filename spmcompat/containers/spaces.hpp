// Finds the next space in a text.
#pragma once

#include <cstdint>

#include "spmcompat/containers/hash.hpp"

namespace spmcompat {

// Returns a number whose lowest set bit is in the first byte that is a space, or 0 if no byte is a
// space. This is faster than calling memchr, because most words are short.
inline uint64_t spaces_in(uint64_t bytes) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  const uint64_t x = bytes ^ (kOnes * ' ');
  return (x - kOnes) & ~x & (kOnes << 7);
}

inline const char* find_space(const char* at, const char* end) {
  for (; end - at >= 8; at += 8) {
    if (const uint64_t spaces = spaces_in(load<uint64_t>(at))) {
      return at + __builtin_ctzll(spaces) / 8;
    }
  }
  while (at < end && *at != ' ') ++at;
  return at;
}

}  // namespace spmcompat
