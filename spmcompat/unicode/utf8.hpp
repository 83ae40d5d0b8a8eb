// Reads and writes UTF-8 as sentencepiece does: a byte at which no well-formed character begins is
// read as U+FFFD.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "spmcompat/platform.hpp"

namespace spmcompat {

constexpr char32_t kReplacement = 0xfffd;
constexpr size_t kCodePoints = 0x110000;

inline bool is_code_point(char32_t c) { return c < 0xd800 || (c >= 0xe000 && c <= 0x10ffff); }

inline bool is_trail(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// Whether the text before `end` begins with eight ASCII characters.
inline bool has_eight_ascii(const char* text, const char* end) {
  uint64_t eight;
  return end - text >= 8 && (std::memcpy(&eight, text, 8), (eight & 0x8080808080808080) == 0);
}

// Returns the size of a character in bytes according to its first byte. Does not check the other
// bytes.
inline size_t char_size(char lead) {
  const unsigned char byte = static_cast<unsigned char>(lead);
  return 1 + (byte >= 0xc0) + (byte >= 0xe0) + (byte >= 0xf0);
}

// Returns the character at `begin`, and stores its size in bytes. `begin` must be before `end`.
// Overlong forms, surrogates and numbers above U+10FFFF are malformed: for them, the result is
// U+FFFD with a size of 1.
inline char32_t decode_utf8(const char* begin, const char* end, size_t* size) {
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char lead = static_cast<unsigned char>(*begin);
  *size = 1;
  if (lead < 0x80) return lead;
  const size_t claimed = char_size(*begin);
  if (claimed == 1 || lead >= 0xf8 || static_cast<size_t>(end - begin) < claimed) {
    return kReplacement;
  }
  char32_t c = lead & (0x7f >> claimed);
  for (size_t i = 1; i < claimed; ++i) {
    if (!is_trail(begin[i])) return kReplacement;
    c = (c << 6) | (static_cast<unsigned char>(begin[i]) & 0x3f);
  }
  if (c < kSmallest[claimed] || !is_code_point(c)) return kReplacement;
  *size = claimed;
  return c;
}

// Reads a character of a well-formed text. Returns its size in bytes.
inline size_t read_utf8(const char* text, char32_t* c) {
  const auto bits = [text](size_t i, char32_t mask) {
    return static_cast<unsigned char>(text[i]) & mask;
  };
  const size_t size = char_size(*text);
  switch (size) {
    case 1: *c = bits(0, 0x7f); break;
    case 2: *c = bits(0, 0x1f) << 6 | bits(1, 0x3f); break;
    case 3: *c = bits(0, 0x0f) << 12 | bits(1, 0x3f) << 6 | bits(2, 0x3f); break;
    default: *c = bits(0, 0x07) << 18 | bits(1, 0x3f) << 12 | bits(2, 0x3f) << 6 | bits(3, 0x3f);
  }
  return size;
}

template <typename Function>
void for_each_character(std::string_view text, Function function) {
  const char* end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    size_t size;
    function(decode_utf8(p, end, &size));
    p += size;
  }
}

// Appends a character in UTF-8. Writes U+FFFD for numbers above U+10FFFF. The caller must check for
// surrogates.
inline void append_utf8(char32_t c, std::string& out) {
  if (c > 0x10ffff) c = kReplacement;
  const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
    return;
  }
  if (c < 0x800) {
    put(0xc0 | (c >> 6));
  } else {
    if (c < 0x10000) {
      put(0xe0 | (c >> 12));
    } else {
      put(0xf0 | (c >> 18));
      put(0x80 | ((c >> 12) & 0x3f));
    }
    put(0x80 | ((c >> 6) & 0x3f));
  }
  put(0x80 | (c & 0x3f));
}

// Returns the number of characters of a well-formed text: the number of bytes that are not
// continuation bytes.
inline size_t count_chars(std::string_view text) {
  size_t count = 0;
  for (const char byte : text) count += !is_trail(byte);
  return count;
}

}  // namespace spmcompat
