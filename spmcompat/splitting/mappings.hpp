// Tables of the characters to which characters are mapped. Derived headers have the entries.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace spmcompat {

// An entry holds for its first character and the characters up to the next entry, if they are
// mapped at all. All are mapped to characters at the same distance. Entries of the same character
// are its results, one after another.
struct CharMapping {
  char32_t first;
  char32_t result;
};

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

}  // namespace spmcompat
