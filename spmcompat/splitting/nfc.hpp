// Normalizes a text with NFC, as Hugging Face tokenizers do.
//
// Most characters are plain: they are starters, NFC keeps them, and they never compose with a
// character before them. So the text is cut before plain characters, and only the parts that have
// other characters are normalized.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spmcompat/splitting/nfc_properties.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

struct RankedCharacter {
  char32_t c;
  uint8_t rank;
};

// Decomposes a text, and puts nonstarters that follow each other in order.
inline void decompose(std::string_view text, std::vector<RankedCharacter>& characters) {
  characters.clear();
  for_each_character(text, [&](char32_t c) {
    const auto add = [&](char32_t part) { characters.push_back({part, nonstarter_rank(part)}); };
    if (nfc_class(c) & kNfcDecomposed) return for_each_decomposed(c, add);
    add(c);
  });
  const auto is_starter = [](const RankedCharacter& character) { return character.rank == 0; };
  const auto less = [](const RankedCharacter& left, const RankedCharacter& right) {
    return left.rank < right.rank;
  };
  for (auto at = characters.begin(); at != characters.end();) {
    const auto stop = std::find_if(at, characters.end(), is_starter);
    std::stable_sort(at, stop, less);
    at = std::find_if_not(stop, characters.end(), is_starter);
  }
}

// Composes the characters of a decomposed text. A character composes with the last starter unless
// another character stays between them whose rank is not lower.
inline void compose(std::vector<RankedCharacter>& characters) {
  size_t size = 0;  // the number of characters that stay
  const size_t none = characters.size();
  size_t starter = none;
  for (const RankedCharacter next : characters) {
    const bool reaches =
        starter != none && (starter + 1 == size || characters[size - 1].rank < next.rank);
    const char32_t result = reaches ? composed(characters[starter].c, next.c) : 0;
    if (result != 0) {
      characters[starter].c = result;
      continue;
    }
    if (next.rank == 0) starter = size;
    characters[size++] = next;
  }
  characters.resize(size);
}

inline bool is_plain(uint8_t nfc_class) { return !(nfc_class & (kNfcChanges | kNfcNonstarter)); }

// Returns the next character that is not plain, or `end`.
inline const char* find_special(const char* at, const char* end) {
  while (at < end) {
    if (has_eight_ascii(at, end)) {
      at += 8;
      continue;
    }
    char32_t c;
    const size_t size = read_utf8(at, &c);
    if (!is_plain(nfc_class(c))) break;
    at += size;
  }
  return at;
}

// Returns the next plain character, or `end`. Stores whether NFC keeps the characters before it: it
// does if it keeps each of them, none composes, and all are in order (the quick check of Unicode).
inline const char* find_plain(const char* at, const char* end, bool* keeps) {
  uint8_t last = 0;
  *keeps = true;
  while (at < end) {
    char32_t c;
    const size_t size = read_utf8(at, &c);
    const uint8_t found = nfc_class(c);
    if (is_plain(found)) break;
    const uint8_t rank = nonstarter_rank(c);
    if (found & kNfcChanges || rank < last) *keeps = false;
    last = rank;
    at += size;
  }
  return at;
}

// Returns the NFC of a well-formed text: the text itself if it is clear that NFC keeps it, or the
// content of `buffer`.
inline std::string_view nfc(std::string_view text, std::string& buffer) {
  buffer.clear();
  std::vector<RankedCharacter> characters;
  const char* end = text.data() + text.size();
  const char* done = text.data();  // the text before it is in the buffer
  for (const char* at = text.data(); (at = find_special(at, end)) < end;) {
    const char* begin = at;  // moves to the plain character before it, if there is one
    if (begin > text.data()) {
      do --begin;
      while (is_trail(*begin));
    }
    bool keeps;
    at = find_plain(at, end, &keeps);
    if (keeps) continue;
    buffer.append(done, begin);
    decompose(std::string_view(begin, at - begin), characters);
    compose(characters);
    for (const RankedCharacter& character : characters) append_utf8(character.c, buffer);
    done = at;
  }
  if (done == text.data()) return text;
  buffer.append(done, end);
  return buffer;
}

inline std::string nfc_of(std::string_view text) {
  std::string buffer;
  return std::string(nfc(text, buffer));
}

}  // namespace spmcompat
