// Raw tokens: the bytes of a sentence between two spaces, unchanged from the input.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spmcompat/containers/hash.hpp"
#include "spmcompat/containers/spaces.hpp"

namespace spmcompat {

// A raw token, which is never empty.
struct RawToken {
  // Creates a token of at most eight bytes, which are all in `head`.
  RawToken(const char* text, uint32_t size, uint64_t head)
      : head(head), text(text), size(size), hash(mix(head ^ size * 0x9e3779b97f4a7c15ULL)) {}
  RawToken(const char* text, size_t size) : RawToken(text, size, head_of(text, size)) {
    if (size > 8) hash = hash_bytes(text, size);
  }

  uint64_t head;  // the first eight bytes, padded with zeros
  const char* text;
  uint32_t size;
  uint32_t hash;

 private:
  // The two loads may overlap. OR can combine them, because they agree where they overlap.
  static uint64_t head_of(const char* text, size_t size) {
    if (size >= 8) return load<uint64_t>(text);
    if (size >= 4) {
      return load<uint32_t>(text) | load<uint32_t>(text + size - 4) << (8 * (size - 4));
    }
    if (size >= 2) {
      return load<uint16_t>(text) | load<uint16_t>(text + size - 2) << (8 * (size - 2));
    }
    return load<uint8_t>(text);
  }
};

// Calls function(token) for every raw token.
template <typename Function>
void for_each_raw_token(const char* at, const char* end, Function function) {
  // Most raw tokens fit into eight bytes together with the space that follows them.
  while (end - at >= 8) {
    const uint64_t bytes = load<uint64_t>(at);
    const uint64_t spaces = spaces_in(bytes);
    if (spaces == 0) {
      const char* stop = find_space(at + 8, end);
      function(RawToken(at, stop - at));
      at = stop + 1;
    } else {
      const uint32_t size = __builtin_ctzll(spaces) / 8;
      if (size > 0) function(RawToken(at, size, bytes & ((uint64_t{1} << 8 * size) - 1)));
      at += size + 1;
    }
  }
  while (at < end) {
    const char* stop = find_space(at, end);
    if (stop > at) function(RawToken(at, stop - at));
    at = stop + 1;
  }
}

}  // namespace spmcompat
