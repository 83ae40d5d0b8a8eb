// Converts stored rows to counts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "spmcompat/counting/pretoken_table.hpp"
#include "spmcompat/counting/row_block.hpp"
#include "spmcompat/counting/worker_table.hpp"

namespace spmcompat {

// Adds rows to a table. Returns the index of a row that the table already contained, or the number
// of rows if all are new.
inline size_t add_rows(const RowColumns& rows, PretokenTable& table) {
  constexpr size_t kTogether = 1 << 14;
  std::vector<PretokenTable::Row> part;
  for (size_t begin = 0; begin < rows.size; begin += kTogether) {
    part.clear();
    for (size_t i = begin; i < std::min(begin + kTogether, rows.size); ++i) {
      part.push_back({rows.pretoken(i), rows.code(i), static_cast<uint64_t>(rows.count[i]), i});
    }
    const size_t known = table.add_rows(part, rows.size);
    if (known < rows.size) return known;
  }
  return rows.size;
}

// Adds rows to the table of one worker, for plans that do not keep contexts.
inline void add_rows_without_contexts(const RowColumns& rows, WorkerTable& table) {
  for (size_t i = 0; i < rows.size; ++i) {
    table.contexts.add(table.pretokens.add(rows.pretoken(i)), 0,
                       static_cast<uint64_t>(rows.count[i]));
  }
}

}  // namespace spmcompat
