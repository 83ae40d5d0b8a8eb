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

enum class RowFault : uint8_t { kNone, kUtf8, kEmpty, kPlace, kNext, kTextEnd, kCount };

// Returns what is wrong with row i, or kNone. The columns must not contain nulls.
inline RowFault fault_of_row(const RowColumns& rows, size_t text_bytes, size_t i) {
  const int64_t begin = rows.ends[i], end = rows.ends[i + 1];
  if (begin < 0 || end < begin || static_cast<size_t>(end) > text_bytes) return RowFault::kUtf8;
  if (!is_utf8(rows.pretoken(i))) return RowFault::kUtf8;
  if (rows.place[i] > kAtTextEnd) return RowFault::kPlace;
  if (rows.next[i] > kLargestCharacter) return RowFault::kNext;
  if (rows.place[i] == kAtTextEnd && rows.next[i] != 0) return RowFault::kTextEnd;
  if (rows.count[i] < 1 || rows.count[i] > kLargestCount) return RowFault::kCount;
  return begin == end ? RowFault::kEmpty : RowFault::kNone;
}

// Finds the first invalid row, sets `row` to its index, and returns what is wrong with it. Returns
// kNone if all rows are valid.
inline RowFault find_fault(const RowColumns& rows, size_t text_bytes, size_t& row) {
  for (row = 0; row < rows.size; ++row) {
    const RowFault fault = fault_of_row(rows, text_bytes, row);
    if (fault != RowFault::kNone) return fault;
  }
  return RowFault::kNone;
}

// Returns the sum of the counts of all rows whose place is `place`.
inline uint64_t count_of_place(const RowColumns& rows, uint8_t place) {
  uint64_t sum = 0;
  for (size_t i = 0; i < rows.size; ++i) {
    if (rows.place[i] == place) sum += static_cast<uint64_t>(rows.count[i]);
  }
  return sum;
}

// Returns the sum of all counts, or 2^63 if the sum is larger.
inline uint64_t total_count(const RowColumns& rows) {
  constexpr uint64_t kMost = uint64_t{1} << 63;
  uint64_t sum = 0;
  for (size_t i = 0; i < rows.size; ++i) sum = std::min(sum + rows.count[i], kMost);
  return sum;
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
