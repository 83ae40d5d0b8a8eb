// Distinct segments with their counts: everything that BPE needs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "spmcompat/counting/segment_table.hpp"
#include "spmcompat/old_releases/bpe_segments.hpp"
#include "spmcompat/pretokenization/cuts.hpp"
#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/segments/segmented_corpus.hpp"

namespace spmcompat {

class SegmentCounts {
 public:
  // This constructor must not allocate a table, because Cython could not catch the exception of a
  // failed allocation.
  SegmentCounts() = default;
  explicit SegmentCounts(SegmentTable table) : table_(std::move(table)) {}

  size_t size() const {
    size_t size = 0;
    for_each([&size](std::string_view, uint64_t) { ++size; });
    return size;
  }
  uint32_t shards() const { return table_ ? table_->shards() : 0; }
  // Frees the segments of a shard.
  void drop(uint32_t shard) { table_->drop(shard); }

  // Calls function(text, count) for every segment, or for every segment of a shard.
  template <typename Function>
  void for_each(Function function) const {
    for (uint32_t shard = 0; shard < shards(); ++shard) for_each(shard, function);
  }
  template <typename Function>
  void for_each(uint32_t shard, Function function) const {
    table_->for_each(shard, function);
  }

  // If only this method adds segments, for_each visits them in the order in which they were first
  // added.
  void add(std::string_view segment, uint64_t count) {
    if (!table_) table_.emplace(0);
    table_->add(segment, {count});
  }

  void add(const SegmentCounts& other) {
    other.for_each([this](std::string_view text, uint64_t count) { add(text, count); });
  }

  // Adds the segments of a text. Also cuts the text before and after every character that is not
  // required. Leaves out segments of one character, because they do not contain a pair.
  void add_long_segments(std::string_view text, uint64_t count, const PieceRule& rule,
                         const std::vector<bool>& required) {
    for_each_long_segment(text, rule, required,
                          [&](std::string_view segment) { add(segment, count); });
  }

  // Adds the segments of a pretoken in which rare characters have already been replaced.
  void add_segments(std::string pretoken, uint64_t count, const PieceRule& rule) {
    for_each_bpe_segment(std::move(pretoken), rule,
                         [&](std::string_view segment) { add(segment, count); });
  }

 private:
  std::optional<SegmentTable> table_;
};

static_assert(std::is_nothrow_default_constructible_v<SegmentCounts>);

// Returns the segments of a corpus with their counts. `corpus.uses` must not have been dropped.
inline SegmentCounts count_segments(const SegmentedCorpus& corpus, Crew& crew) {
  SegmentCounts found;
  for (size_t i = 0; i < corpus.uses.size(); ++i) {
    crew.check_cancelled();
    found.add(corpus.segments[i], corpus.uses[i].count);
  }
  return found;
}

}  // namespace spmcompat
