// Canonical decompositions and compositions of characters, as in Hugging Face tokenizers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <tuple>

#include "spmcompat/splitting/blocks.hpp"
#include "spmcompat/splitting/mappings.hpp"
#include "spmcompat/splitting/nfc_tables.hpp"

namespace spmcompat {

constexpr uint8_t kNfcChanges = 1;  // NFC replaces it, or may compose it with a character before it
constexpr uint8_t kNfcNonstarter = 2;  // its canonical combining class is not 0
constexpr uint8_t kNfcDecomposed = 4;  // it has a canonical decomposition

constexpr auto kNfcTable = classes_of(kNfcBlocks, [](char letter) -> uint8_t {
  switch (letter) {
    case 'c': return kNfcChanges;
    case 'm': return kNfcChanges | kNfcNonstarter;
    case 'n': return kNfcNonstarter;
    case 'd': return kNfcDecomposed;
    case 's': return kNfcChanges | kNfcDecomposed;
    case 'r': return kNfcChanges | kNfcNonstarter | kNfcDecomposed;
    default: return 0;
  }
});

constexpr auto kNfcBlockOf = block_numbers(kNfcBlockRuns);

inline uint8_t nfc_class(char32_t c) {
  return kNfcTable[kNfcBlockOf[c / kBlockSize] * kBlockSize + c % kBlockSize];
}

// The syllables of Hangul have a first consonant, a vowel and perhaps a last consonant.
constexpr char32_t kSyllables = 0xac00, kSyllableCount = 11172;
constexpr char32_t kLeads = 0x1100, kLeadCount = 19;
constexpr char32_t kVowels = 0x1161, kVowelCount = 21;
constexpr char32_t kTrails = 0x11a7, kTrailCount = 28;  // the first one stands for no consonant

// Calls function(part) for every character of the canonical decomposition of a character that has
// one.
template <typename Function>
void for_each_decomposed(char32_t c, Function function) {
  const char32_t syllable = c - kSyllables;
  if (syllable >= kSyllableCount) return for_each_mapped(kDecompositions, c, function);
  function(kLeads + syllable / (kVowelCount * kTrailCount));
  function(kVowels + syllable / kTrailCount % kVowelCount);
  if (syllable % kTrailCount != 0) function(kTrails + syllable % kTrailCount);
}

// Returns the character that two characters compose, or 0.
inline char32_t composed(char32_t first, char32_t second) {
  const char32_t lead = first - kLeads, vowel = second - kVowels;
  if (lead < kLeadCount && vowel < kVowelCount) {
    return kSyllables + (lead * kVowelCount + vowel) * kTrailCount;
  }
  const char32_t syllable = first - kSyllables, trail = second - kTrails;
  if (syllable < kSyllableCount && syllable % kTrailCount == 0 && trail < kTrailCount) {
    return first + trail;
  }
  const auto before = [](const Composition& left, const Composition& right) {
    return std::tie(left.first, left.second) < std::tie(right.first, right.second);
  };
  const Composition wanted{first, second, 0};
  const auto* found =
      std::lower_bound(std::begin(kCompositions), std::end(kCompositions), wanted, before);
  return found == std::end(kCompositions) || before(wanted, *found) ? 0 : found->result;
}

// Returns the place of a nonstarter, which is not decomposed, in their order. Others have place 0.
inline uint8_t nonstarter_rank(char32_t c) {
  return nfc_class(c) & kNfcNonstarter ? last_entry(kNonstarterRanks, c)->rank : 0;
}

}  // namespace spmcompat
