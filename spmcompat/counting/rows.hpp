// The counts as rows: a pretoken, what follows it, and how often. In this form counts are stored,
// and from this form they return.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/counting/pretoken_table.hpp"
#include "spmcompat/counting/worker_table.hpp"
#include "spmcompat/unicode/marks.hpp"

namespace spmcompat {

// Where a pretoken stands. The numbers are those of the column `place`.
constexpr uint8_t kInside = 0;     // another pretoken of the sentence follows
constexpr uint8_t kAtEnd = 1;      // it ends its sentence, and another sentence follows
constexpr uint8_t kAtTextEnd = 2;  // it ends the text

// Some rows, column by column. `next` is the character that follows the pretoken, or that begins
// the next sentence; 0 at the end of the text.
struct RowBatch {
  std::vector<int32_t> ends;  // of the pretokens in `text`; the first row begins at ends[0] = 0
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

// Hands out the rows of a table in order: by the bytes of the pretoken, then by place, then by the
// character that follows. Workers call sort for all shards; then next_batch goes through the rows.
class SortedRows {
 public:
  explicit SortedRows(const PretokenTable& pretokens)
      : pretokens_(pretokens), shards_(pretokens.shards()) {}

  void sort(uint32_t shard) {
    Shard& sorted = shards_[shard];
    sorted.ids.reserve(pretokens_.size(shard));
    for (uint32_t i = 0; i < pretokens_.size(shard); ++i) {
      sorted.ids.push_back(pretokens_.id(shard, i));
    }
    std::sort(sorted.ids.begin(), sorted.ids.end(),
              [this](uint32_t a, uint32_t b) { return pretokens_[a] < pretokens_[b]; });
    pretokens_.for_each_context(shard, [&](const Context& c) {
      if (c.count > 0) sorted.contexts.push_back(c);
    });
    std::sort(sorted.contexts.begin(), sorted.contexts.end(), [](const auto& a, const auto& b) {
      return std::pair(a.pretoken, a.next) < std::pair(b.pretoken, b.next);
    });
  }

  // Fills the batch with the next rows, up to about this many rows and bytes. Leaves it empty
  // after the last row.
  void next_batch(size_t rows, size_t bytes, RowBatch& batch) {
    batch.clear();
    if (!begun_) begin();
    while (!heap_.empty() && batch.size() < rows && batch.text.size() < bytes) {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      Shard& shard = shards_[heap_.back().shard];
      add_pretoken(shard, shard.ids[shard.at++], batch);
      if (shard.at == shard.ids.size()) {
        heap_.pop_back();
      } else {
        heap_.back() = head_of(heap_.back().shard);
        std::push_heap(heap_.begin(), heap_.end(), later);
      }
    }
  }

 private:
  struct Shard {
    std::vector<uint32_t> ids;      // by the bytes of the pretokens
    std::vector<Context> contexts;  // by id, then by what follows
    size_t at = 0;
  };

  // The next pretoken of a shard. Most comparisons need only its first bytes.
  struct Head {
    uint64_t first_bytes;  // as a number whose highest byte comes first, filled up with zeros
    std::string_view text;
    uint32_t shard;
  };

  static bool later(const Head& a, const Head& b) {
    if (a.first_bytes != b.first_bytes) return b.first_bytes < a.first_bytes;
    return b.text < a.text;
  }

  Head head_of(uint32_t shard) const {
    Head head{0, pretokens_[shards_[shard].ids[shards_[shard].at]], shard};
    for (size_t i = 0; i < sizeof head.first_bytes; ++i) {
      const uint64_t byte = i < head.text.size() ? static_cast<uint8_t>(head.text[i]) : 0;
      head.first_bytes = head.first_bytes << 8 | byte;
    }
    return head;
  }

  void begin() {
    begun_ = true;
    for (uint32_t shard = 0; shard < shards_.size(); ++shard) {
      if (!shards_[shard].ids.empty()) heap_.push_back(head_of(shard));
    }
    std::make_heap(heap_.begin(), heap_.end(), later);
  }

  // Adds the rows of one pretoken. The codes of what follows are in the order of the rows.
  void add_pretoken(const Shard& shard, uint32_t id, RowBatch& batch) {
    rows_.clear();
    const PretokenUse& use = pretokens_.use(id);
    if (use.inner > 0) rows_.emplace_back(uint32_t(kSpaceMark), use.inner);
    if (use.last > 0) rows_.emplace_back(kSentenceEnd | kSpaceMark, use.last);
    auto context = std::lower_bound(shard.contexts.begin(), shard.contexts.end(), id,
                                    [](const Context& c, uint32_t id) { return c.pretoken < id; });
    for (; context != shard.contexts.end() && context->pretoken == id; ++context) {
      rows_.emplace_back(context->next, context->count);
    }
    std::sort(rows_.begin(), rows_.end());
    for (const auto& [code, count] : rows_) batch.add(pretokens_[id], code, count);
  }

  const PretokenTable& pretokens_;
  std::vector<Shard> shards_;
  std::vector<Head> heap_;  // of the shards that have rows left
  bool begun_ = false;
  std::vector<std::pair<uint32_t, uint64_t>> rows_;
};

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
