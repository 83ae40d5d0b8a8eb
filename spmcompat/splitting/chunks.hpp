// Cuts a text into chunks, which all scanners split separately into the same words as the text.
//
// A chunk begins at a space between two characters that are not white space. Many chunks occur
// again, so it is enough to scan the distinct ones. The words are the same because the space begins
// a word, and no earlier word depends on what follows:
//
// - Letters, numbers, other characters: a space is only matched before them. So a word ends before
//   the space at the latest, and ends at the same place if nothing follows.
// - Contractions contain no space, and are not looked at beyond their letters.
// - The CR, LF or slash after other characters: as for these characters.
// - White space: the character before the space is not white space, so no white space that ends
//   earlier reaches it, and `(?!\S)` and `$` see a character of the same chunk. The space itself is
//   alone: it is followed by a character that is not white space, again in its chunk.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "spmcompat/containers/spaces.hpp"
#include "spmcompat/splitting/properties.hpp"

namespace spmcompat {

inline bool is_white(const char* at) {
  size_t size;
  return class_at(at, &size) & kWhite;
}

// Whether the character that ends before `at` is white space.
inline bool is_white_before(const char* at) {
  do --at;
  while (is_trail(*at));
  return is_white(at);
}

// Calls function(chunk) for every chunk of a well-formed text.
template <typename Function>
void for_each_chunk(std::string_view text, Function function) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  for (const char* at = begin; at < end;) {
    at = find_space(at + 1, end);
    if (at == end || (at + 1 < end && !is_white(at + 1) && !is_white_before(at))) {
      function(std::string_view(begin, at - begin));
      begin = at;
    }
  }
}

// Returns the chunks of a well-formed text.
inline std::vector<std::string_view> chunks_of(std::string_view text) {
  std::vector<std::string_view> chunks;
  for_each_chunk(text, [&chunks](std::string_view chunk) { chunks.push_back(chunk); });
  return chunks;
}

}  // namespace spmcompat
