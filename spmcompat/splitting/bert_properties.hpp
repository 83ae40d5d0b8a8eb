// What BERT's normalizer and pre-tokenizer of Hugging Face tokenizers do to a character.
//
// Parts of the library have different versions of Unicode. For example, an accent that is newer than
// the tables of the accents is not removed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "spmcompat/splitting/bert_tables.hpp"
#include "spmcompat/splitting/blocks.hpp"

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

// Returns the last entry that begins at `c` or before.
template <typename Entry, size_t kSize>
const Entry* last_entry(const Entry (&entries)[kSize], char32_t c) {
  const auto after = [](char32_t left, const Entry& right) { return left < right.first; };
  return std::upper_bound(std::begin(entries), std::end(entries), c, after) - 1;
}

// Calls function(result) for every character to which `c` is mapped.
template <size_t kSize, typename Function>
void for_each_mapped(const CharMapping (&entries)[kSize], char32_t c, Function function) {
  const CharMapping* last = last_entry(entries, c);
  const CharMapping* entry = last;
  while (entry != entries && entry[-1].first == last->first) --entry;
  for (; entry <= last; ++entry) function(entry->result + (c - entry->first));
}

// Calls function(part) for every part of the canonical decomposition that is not an accent.
template <typename Function>
void for_each_decomposed(char32_t c, Function function) {
  constexpr char32_t kSyllables = 0xac00, kLast = 0xd7a3;
  constexpr char32_t kLeads = 0x1100, kVowels = 0x1161, kTrails = 0x11a7;
  constexpr char32_t kVowelCount = 21, kTrailCount = 28;
  if (c < kSyllables || c > kLast) return for_each_mapped(kBertDecompositions, c, function);
  const char32_t syllable = c - kSyllables;
  function(kLeads + syllable / (kVowelCount * kTrailCount));
  function(kVowels + syllable / kTrailCount % kVowelCount);
  if (syllable % kTrailCount != 0) function(kTrails + syllable % kTrailCount);
}

template <typename Function>
void for_each_lowercase(char32_t c, Function function) {
  if (c < 0x80) return function(c + ('a' - 'A'));
  for_each_mapped(kBertLowercase, c, function);
}

// Returns the place of a nonstarter in their order.
inline uint8_t nonstarter_rank(char32_t c) { return last_entry(kBertRanks, c)->rank; }

}  // namespace spmcompat
