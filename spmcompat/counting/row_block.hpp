// Rows of counts, stored by column: a pretoken, its context, and the count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spmcompat/counting/pretoken_table.hpp"

namespace spmcompat {

// The values of the column `place`, which states where a pretoken stands in the text.
constexpr uint8_t kInside = 0;     // another pretoken of the sentence follows
constexpr uint8_t kAtEnd = 1;      // the pretoken ends its sentence, and another sentence follows
constexpr uint8_t kAtTextEnd = 2;  // the pretoken ends the text

// A block of rows, stored by column. `next` is the character that follows the pretoken, or the
// first character of the next sentence, or 0 at the end of the text.
struct RowBlock {
  std::vector<int32_t> ends;  // the pretoken of row i is text[ends[i]:ends[i + 1]]
  std::string text;
  std::vector<uint8_t> place;
  std::vector<uint32_t> next;
  std::vector<int64_t> count;

  void clear() {
    ends.assign(1, 0);
    text.clear();
    place.clear();
    next.clear();
    count.clear();
  }
  size_t size() const { return count.size(); }
  void add(std::string_view pretoken, uint32_t code, uint64_t times) {
    text.append(pretoken);
    ends.push_back(static_cast<int32_t>(text.size()));
    const bool at_text_end = code == kTextEnd;
    place.push_back(at_text_end ? kAtTextEnd : code & kSentenceEnd ? kAtEnd : kInside);
    next.push_back(at_text_end ? 0 : code & ~kSentenceEnd);
    count.push_back(static_cast<int64_t>(times));
  }
};

// A view of rows whose columns are stored elsewhere.
struct RowColumns {
  const int32_t* ends;  // size + 1 offsets into the text
  const char* text;
  const uint8_t* place;
  const uint32_t* next;
  const int64_t* count;
  size_t size;

  std::string_view pretoken(size_t i) const {
    return {text + ends[i], static_cast<size_t>(ends[i + 1] - ends[i])};
  }
  uint32_t code(size_t i) const {
    if (place[i] == kAtTextEnd) return kTextEnd;
    return place[i] == kAtEnd ? kSentenceEnd | next[i] : next[i];
  }
};

}  // namespace spmcompat
