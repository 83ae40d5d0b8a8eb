// The rows of a table of words: its words in one text, and how often each occurs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/segments/segment_counts.hpp"

namespace spmcompat {

struct WordRows {
  std::string text;
  std::vector<int64_t> ends{0};  // the end of each word in the text, after a 0
  std::vector<int64_t> counts;
};

// Returns the rows of all words, sorted by the bytes of the words.
inline WordRows sorted_rows(const SegmentCounts& words) {
  std::vector<std::pair<std::string_view, uint64_t>> sorted;
  size_t bytes = 0;
  words.for_each([&](std::string_view word, uint64_t count) {
    sorted.emplace_back(word, count);
    bytes += word.size();
  });
  std::sort(sorted.begin(), sorted.end());
  WordRows rows;
  rows.text.reserve(bytes);
  rows.ends.reserve(sorted.size() + 1);
  rows.counts.reserve(sorted.size());
  for (const auto& [word, count] : sorted) {
    rows.text.append(word);
    rows.ends.push_back(rows.text.size());
    rows.counts.push_back(count);
  }
  return rows;
}

// Adds rows to words. `ends` has one value more than `counts`, and its values do not decrease.
inline void add_rows(const char* text, const int64_t* ends, const int64_t* counts, size_t size,
                     SegmentCounts& words) {
  for (size_t i = 0; i < size; ++i) {
    words.add(std::string_view(text + ends[i], ends[i + 1] - ends[i]), counts[i]);
  }
}

}  // namespace spmcompat
