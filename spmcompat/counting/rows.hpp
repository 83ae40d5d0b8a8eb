// Converts stored rows to counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "spmcompat/containers/shared_table.hpp"
#include "spmcompat/counting/pretoken_table.hpp"
#include "spmcompat/counting/row_block.hpp"
#include "spmcompat/counting/worker_table.hpp"

namespace spmcompat {

// Adds rows to a table. Several workers may call this at the same time.
inline void add_rows(const RowColumns& rows, PretokenTable& table) {
  SharedTableBuffer<PretokenUse> buffer(table);
  std::vector<uint32_t> ids(rows.size);
  for (size_t i = 0; i < rows.size; ++i) {
    if (buffer.full()) buffer.flush(ids);
    buffer.add(rows.pretoken(i), PretokenUse::of(rows.code(i), rows.count[i]), i);
  }
  buffer.flush(ids);
  for (size_t i = 0; i < rows.size; ++i) {
    if (!PretokenUse::has(rows.code(i))) table.count(ids[i], rows.code(i), rows.count[i]);
  }
}

// Adds rows to the table of one worker, for plans that do not keep contexts.
inline void add_rows_without_contexts(const RowColumns& rows, WorkerTable& table) {
  for (size_t i = 0; i < rows.size; ++i) {
    table.contexts.add(table.pretokens.add(rows.pretoken(i)), 0,
                       static_cast<uint64_t>(rows.count[i]));
  }
}

}  // namespace spmcompat
