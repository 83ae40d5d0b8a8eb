// Cuts a text into chunks. The words of the chunks, one after another, are the words of the text.
//
// A chunk begins at a space after a character that is not white space. Many chunks occur again, so
// it is enough to scan the distinct ones.
//
// The words are the same because a scanner looks at nothing before a word, and because every word
// before such a space ends where it would end if the text ended there:
//
// - Letters, numbers, other characters and the line ends after them: a space is only matched at the
//   beginning of such a word, so the word ends there or earlier, as at the end of a text. In o200k,
//   capitals before a space are given back as at the end of a text: no small letter follows them.
// - Contractions: the space, like the end of a text, is none of their letters.
// - White space: the character before the space is not white space. So white space that ends before
//   the space ends at a character of the same chunk, and `(?!\S)` and `$` see that character.
//
// So a word begins at the space. For the words of BERT, see bert.hpp.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "spmcompat/containers/spaces.hpp"
#include "spmcompat/splitting/properties.hpp"

namespace spmcompat {

// Whether the character that ends before `at` is white space.
inline bool is_white_before(const char* at) {
  do --at;
  while (is_trail(*at));
  size_t size;
  return class_at(at, &size) & kWhite;
}

// Calls function(chunk) for every chunk of a well-formed text.
template <typename Function>
void for_each_chunk(std::string_view text, Function function) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  for (const char* at = begin; at < end;) {
    at = find_space(at + 1, end);
    if (at == end || !is_white_before(at)) {
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
