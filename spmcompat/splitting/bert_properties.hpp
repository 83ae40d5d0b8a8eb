// What BERT's normalizer and pre-tokenizer of Hugging Face tokenizers do to a character.
//
// Parts of the library have different versions of Unicode. For example, an accent that is newer than
// the tables of the accents is not removed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spmcompat/splitting/bert_tables.hpp"
#include "spmcompat/splitting/blocks.hpp"
#include "spmcompat/splitting/mappings.hpp"

namespace spmcompat {

constexpr uint8_t kBertWhite = 1;
constexpr uint8_t kBertControl = 2;  // also U+0000 and U+FFFD
constexpr uint8_t kBertPunctuation = 4;
constexpr uint8_t kBertChinese = 8;
constexpr uint8_t kBertAccent = 16;      // a character that strip_accents removes
constexpr uint8_t kBertNonstarter = 32;  // its canonical combining class is not 0
constexpr uint8_t kBertDecomposed = 64;  // strip_accents replaces it with other characters
constexpr uint8_t kBertCapital = 128;

constexpr auto kBertTable = classes_of(kBertBlocks, [](char letter) -> uint8_t {
  switch (letter) {
    case 'w': return kBertWhite;
    case 'v': return kBertWhite | kBertControl;
    case 'r': return kBertControl;
    case 'p': return kBertPunctuation;
    case 'q': return kBertPunctuation | kBertDecomposed;
    case 'c': return kBertChinese;
    case 'k': return kBertChinese | kBertDecomposed;
    case 'd': return kBertDecomposed;
    case 'u': return kBertCapital;
    case 'b': return kBertCapital | kBertDecomposed;
    case 's': return kBertAccent;
    case 'm': return kBertAccent | kBertNonstarter;
    case 'n': return kBertNonstarter;
    default: return 0;
  }
});

constexpr auto kBertBlockOf = block_numbers(kBertBlockRuns);

inline uint8_t bert_class(char32_t c) {
  return kBertTable[kBertBlockOf[c / kBlockSize] * kBlockSize + c % kBlockSize];
}

template <typename Function>
void for_each_lowercase(char32_t c, Function function) {
  if (c < 0x80) return function(c + ('a' - 'A'));
  for_each_mapped(kBertLowercase, c, function);
}

}  // namespace spmcompat
