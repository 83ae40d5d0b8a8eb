// Counts of rows: what was stored returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spmcompat/counting/pretoken_table.hpp"
#include "spmcompat/counting/row_batch.hpp"
#include "spmcompat/counting/worker_table.hpp"

namespace spmcompat {

// Rows whose columns lie elsewhere.
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

// Adds rows to a table. Returns the index of a row that was there before, or the number of rows.
inline size_t add_rows(const RowColumns& rows, PretokenTable& table) {
  for (size_t i = 0; i < rows.size; ++i) {
    const uint32_t id = table.add(rows.pretoken(i), {});
    if (!table.count_first(id, rows.code(i), static_cast<uint64_t>(rows.count[i]))) return i;
  }
  return rows.size;
}

// Adds rows to what one worker has counted, for plans that keep no contexts.
inline void add_rows_without_contexts(const RowColumns& rows, WorkerTable& table) {
  for (size_t i = 0; i < rows.size; ++i) {
    table.contexts.add(table.pretokens.add(rows.pretoken(i)), 0,
                       static_cast<uint64_t>(rows.count[i]));
  }
}

}  // namespace spmcompat
