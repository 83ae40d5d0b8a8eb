// Checks the values of rows that were read from a file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <tuple>
#include <vector>

#include "spmcompat/counting/row_block.hpp"
#include "spmcompat/unicode/utf8.hpp"
#include "spmcompat/unicode/well_formed.hpp"

namespace spmcompat {

constexpr uint32_t kLargestCharacter = kCodePoints - 1;
// The sum of a few larger counts would not fit into 64 bits.
constexpr int64_t kLargestCount = int64_t{1} << 62;

// Returns what is wrong with row i, or null: `utf8` or `empty` for its pretoken, `text end` if a
// character follows the end of the text, or the name of the column with an invalid value. The
// columns must not contain nulls.
inline const char* fault_of_row(const RowColumns& rows, size_t text_bytes, size_t i) {
  const int64_t begin = rows.ends[i], end = rows.ends[i + 1];
  if (begin < 0 || end < begin || static_cast<size_t>(end) > text_bytes) return "utf8";
  if (!is_utf8(rows.pretoken(i))) return "utf8";
  if (rows.place[i] > kAtTextEnd) return "place";
  if (rows.next[i] > kLargestCharacter) return "next";
  if (rows.place[i] == kAtTextEnd && rows.next[i] != 0) return "text end";
  if (rows.count[i] < 1 || rows.count[i] > kLargestCount) return "count";
  return begin == end ? "empty" : nullptr;
}

// Finds the first invalid row, sets `row` to its index, and returns what is wrong with it. Returns
// null if all rows are valid.
inline const char* find_fault(const RowColumns& rows, size_t text_bytes, size_t& row) {
  for (row = 0; row < rows.size; ++row) {
    if (const char* fault = fault_of_row(rows, text_bytes, row)) return fault;
  }
  return nullptr;
}

// Returns the index of the first row that is not greater than the row before it, or the number of
// rows if the rows are sorted and distinct. Rows are compared by pretoken (bytes), place and next.
inline size_t find_disorder(const RowColumns& rows) {
  const auto key = [&](size_t i) {
    return std::tuple(rows.pretoken(i), rows.place[i], rows.next[i]);
  };
  for (size_t i = 1; i < rows.size; ++i) {
    if (!(key(i - 1) < key(i))) return i;
  }
  return rows.size;
}

// Finds rows that may be duplicates, because they have equal hashes. The table need not be sorted.
// Stores a hash of eight bytes for each row; after find_repeated, only the hashes that occur more
// than once.
class RowHashes {
 public:
  void add(const RowColumns& rows) {
    for (size_t i = 0; i < rows.size; ++i) hashes_.push_back(hash(rows, i));
  }

  // Must be called once, after all rows have been added. Returns whether two rows have equal hashes.
  bool find_repeated() {
    std::sort(hashes_.begin(), hashes_.end());
    std::vector<uint64_t> repeated;
    for (size_t i = 1; i < hashes_.size(); ++i) {
      if (hashes_[i] == hashes_[i - 1]) repeated.push_back(hashes_[i]);
    }
    hashes_.swap(repeated);
    return !hashes_.empty();
  }

  // Appends the indices of the rows whose hash occurs more than once.
  void append_repeated(const RowColumns& rows, std::vector<size_t>& found) const {
    for (size_t i = 0; i < rows.size; ++i) {
      if (std::binary_search(hashes_.begin(), hashes_.end(), hash(rows, i))) found.push_back(i);
    }
  }

 private:
  static uint64_t hash(const RowColumns& rows, size_t i) {
    const uint64_t pretoken = std::hash<std::string_view>()(rows.pretoken(i));
    const uint64_t rest = uint64_t{rows.place[i]} << 32 | rows.next[i];
    const uint64_t mixed = (pretoken ^ (rest + 1) * 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd;
    return mixed ^ mixed >> 32;
  }

  std::vector<uint64_t> hashes_;
};

}  // namespace spmcompat
