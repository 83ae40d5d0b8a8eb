// The hash functions of all tables, which convert a number or a byte string to 32 bits, and the
// unaligned loads that they need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "spmcompat/platform.hpp"

namespace spmcompat {

inline uint32_t mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  return static_cast<uint32_t>(x >> 32);
}

inline uint32_t hash_pair(uint32_t first, uint32_t second) {
  return mix((static_cast<uint64_t>(first) << 32) | second);
}

template <typename Number>
uint64_t load(const char* data) {
  Number number;
  std::memcpy(&number, data, sizeof number);
  return number;
}

// The last load may overlap the previous load, so that no byte after the string is read.
inline uint32_t hash_bytes(const char* data, size_t size) {
  uint64_t h = size * 0x9e3779b97f4a7c15ULL;
  if (size >= 8) {
    for (size_t i = 0; i + 8 < size; i += 8) {
      h = (h ^ load<uint64_t>(data + i)) * 0x9e3779b97f4a7c15ULL;
      h ^= h >> 29;
    }
    h ^= load<uint64_t>(data + size - 8);
  } else if (size >= 4) {
    h ^= load<uint32_t>(data) | load<uint32_t>(data + size - 4) << 32;
  } else if (size > 0) {
    h ^= load<uint8_t>(data) | load<uint8_t>(data + size / 2) << 8 |
         load<uint8_t>(data + size - 1) << 16;
  }
  return mix(h);
}

}  // namespace spmcompat
