// The class of a character: what the expressions of tokenizers distinguish, in Unicode 16.0.
//
// The table has two stages, which fit the bytes of UTF-8: the last byte selects the class within a
// block, the others select the block. The table has 57 KiB, but a text reads few of its cache
// lines. For example, one block has the classes of all Chinese characters.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spmcompat/splitting/blocks.hpp"
#include "spmcompat/splitting/property_blocks.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

// The classes are disjoint, and have one bit each. A set of classes is a sum of bits.
constexpr uint8_t kNewline = 1;    // CR and LF
constexpr uint8_t kBlank = 2;      // other white space
constexpr uint8_t kCapital = 4;    // Lu and Lt
constexpr uint8_t kSmall = 8;      // Ll
constexpr uint8_t kCaseless = 16;  // Lm and Lo
constexpr uint8_t kMark = 32;      // M
constexpr uint8_t kNumber = 64;    // N
constexpr uint8_t kSymbol = 128;   // everything else, also unassigned characters

constexpr uint8_t kWhite = kNewline | kBlank;
constexpr uint8_t kLetter = kCapital | kSmall | kCaseless;

constexpr auto kPropertyTable = classes_of(kPropertyBlocks, [](char letter) -> uint8_t {
  switch (letter) {
    case 'n': return kNewline;
    case 'w': return kBlank;
    case 'u': return kCapital;
    case 'l': return kSmall;
    case 'o': return kCaseless;
    case 'm': return kMark;
    case 'd': return kNumber;
    default: return kSymbol;
  }
});

constexpr auto kBlockOf = block_numbers(kPropertyBlockRuns);

static_assert(kBlockOf[0] == 0 && kBlockOf[1] == 1, "class_at() reads the ASCII blocks directly");

// Returns the class of the character at `text`, which is well-formed, and stores its size in bytes.
inline uint8_t class_at(const char* text, size_t* size) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    *size = 1;
    return kPropertyTable[lead];
  }
  *size = char_size(*text);
  size_t block = lead - 0xc0;
  if (lead >= 0xf0) {
    block = (lead - 0xf0) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
  } else if (lead >= 0xe0) {
    block = (lead - 0xe0) << 6 | (byte(1) & 0x3f);
  }
  return kPropertyTable[kBlockOf[block] * kBlockSize + (byte(*size - 1) & 0x3f)];
}

}  // namespace spmcompat
