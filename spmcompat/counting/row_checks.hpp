// What must hold for the values of rows that were stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spmcompat/counting/row_batch.hpp"
#include "spmcompat/unicode/utf8.hpp"
#include "spmcompat/unicode/well_formed.hpp"

namespace spmcompat {

constexpr uint32_t kLargestCharacter = kCodePoints - 1;
// Counts above this cannot be added up in 64 bits, even a few of them.
constexpr int64_t kLargestCount = int64_t{1} << 62;

enum class RowFault : uint8_t { kNone, kUtf8, kEmpty, kPlace, kNext, kCount };

// Returns what is wrong with row i of the rows, whose columns have no nulls.
inline RowFault fault_of_row(const RowColumns& rows, size_t text_bytes, size_t i) {
  const int64_t begin = rows.ends[i], end = rows.ends[i + 1];
  if (begin < 0 || end < begin || static_cast<size_t>(end) > text_bytes) return RowFault::kUtf8;
  if (!is_utf8(rows.pretoken(i))) return RowFault::kUtf8;
  if (rows.place[i] > kAtTextEnd) return RowFault::kPlace;
  if (rows.next[i] > kLargestCharacter) return RowFault::kNext;
  if (rows.count[i] < 1 || rows.count[i] > kLargestCount) return RowFault::kCount;
  return begin == end ? RowFault::kEmpty : RowFault::kNone;
}

// Returns what is wrong with the first row that is not valid, and sets `row` to its index.
inline RowFault find_fault(const RowColumns& rows, size_t text_bytes, size_t& row) {
  for (row = 0; row < rows.size; ++row) {
    const RowFault fault = fault_of_row(rows, text_bytes, row);
    if (fault != RowFault::kNone) return fault;
  }
  return RowFault::kNone;
}

// Returns the sum of the counts of all rows with this place.
inline uint64_t count_of_place(const RowColumns& rows, uint8_t place) {
  uint64_t sum = 0;
  for (size_t i = 0; i < rows.size; ++i) {
    if (rows.place[i] == place) sum += static_cast<uint64_t>(rows.count[i]);
  }
  return sum;
}

}  // namespace spmcompat
