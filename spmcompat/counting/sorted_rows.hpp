// Sorts the rows of a table: by the bytes of the pretoken, then by place, then by the next
// character.
//
// This is a sample sort. The pretokens of the first shard are the sample: some of them become the
// boundaries between ranges of pretokens. The hash of a pretoken determines its shard, so the
// sample is random, yet the same in every run. Workers first divide the pretokens of every shard
// into the ranges. Then they sort a few ranges at a time, so only the rows of these ranges are in
// memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/counting/pretoken_counts.hpp"
#include "spmcompat/counting/pretoken_table.hpp"
#include "spmcompat/counting/row_block.hpp"
#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/unicode/marks.hpp"

namespace spmcompat {

class SortedRows {
 public:
  // A range has about `range_pretokens` pretokens, but at most about `range_bytes` bytes of text.
  SortedRows(const PretokenTable& pretokens, size_t range_pretokens, size_t range_bytes, Crew& crew)
      : pretokens_(pretokens), shards_(pretokens.shards()), bytes_(range_bytes) {
    std::vector<std::string_view> sample;
    for (uint32_t i = 0; i < pretokens.size(0); ++i)
      sample.push_back(pretokens[pretokens.id(0, i)]);
    std::sort(sample.begin(), sample.end());
    size_t count = 0, bytes = 0;
    for (const std::string_view pretoken : sample) {
      if (count >= range_pretokens / shards_.size() || bytes >= range_bytes / shards_.size()) {
        begins_.push_back(Key::of(pretoken, 0));
        count = bytes = 0;
      }
      ++count;
      bytes += pretoken.size();
    }
    crew.for_each(shards_.size(), [this](uint32_t shard) { divide(shard); });
  }

  size_t ranges() const { return begins_.size() + 1; }

  // Returns the rows of a range in blocks. A block ends when its text reaches `range_bytes` bytes.
  std::vector<RowBlock> sorted(size_t range) const {
    std::vector<Key> keys;
    const size_t skipped = shared_prefix(range);
    for (const Shard& shard : shards_) {
      for (uint32_t i = shard.begins[range]; i < shard.begins[range + 1]; ++i) {
        keys.push_back(Key::of(pretokens_[shard.ids[i]], skipped, shard.ids[i]));
      }
    }
    std::sort(keys.begin(), keys.end());
    std::vector<RowBlock> blocks;
    std::vector<std::pair<uint32_t, uint64_t>> rows;
    for (const Key& key : keys) {
      if (blocks.empty() || blocks.back().text.size() >= bytes_) blocks.emplace_back().clear();
      find_rows(key.id, rows);
      for (const auto& [code, count] : rows) blocks.back().add(key.text, code, count);
    }
    return blocks;
  }

 private:
  // Divides the pretokens of a shard into the ranges.
  void divide(uint32_t shard) {
    Shard& divided = shards_[shard];
    const uint32_t size = pretokens_.size(shard);
    std::vector<uint32_t> range_of(size);
    divided.begins.assign(ranges() + 1, 0);
    for (uint32_t i = 0; i < size; ++i) {
      const Key key = Key::of(pretokens_[pretokens_.id(shard, i)], 0);
      range_of[i] = std::upper_bound(begins_.begin(), begins_.end(), key) - begins_.begin();
      ++divided.begins[range_of[i] + 1];
    }
    for (size_t r = 0; r < ranges(); ++r) divided.begins[r + 1] += divided.begins[r];
    std::vector<uint32_t> next(divided.begins.begin(), divided.begins.end() - 1);
    divided.ids.resize(size);
    for (uint32_t i = 0; i < size; ++i) {
      divided.ids[next[range_of[i]]++] = pretokens_.id(shard, i);
    }
    pretokens_.for_each_context(shard, [&](const ContextCount& c) {
      if (c.count > 0) divided.contexts.push_back(c);
    });
    std::sort(divided.contexts.begin(), divided.contexts.end(), [](const auto& a, const auto& b) {
      return std::pair(a.pretoken, a.next) < std::pair(b.pretoken, b.next);
    });
  }

  // A pretoken and eight of its bytes. Most comparisons need only these bytes.
  struct Key {
    uint64_t bytes;  // the eight bytes as a big-endian number, padded with zeros
    std::string_view text;
    uint32_t id;

    // `skipped` is the length of a prefix that all compared pretokens share.
    static Key of(std::string_view text, size_t skipped, uint32_t id = 0) {
      uint64_t bytes = 0;
      for (size_t i = skipped; i < skipped + sizeof bytes; ++i) {
        bytes = bytes << 8 | (i < text.size() ? static_cast<uint8_t>(text[i]) : 0);
      }
      return {bytes, text, id};
    }
    bool operator<(const Key& other) const {
      return bytes != other.bytes ? bytes < other.bytes : text < other.text;
    }
  };

  struct Shard {
    std::vector<uint32_t> ids;           // the pretokens of the shard, sorted by range
    std::vector<uint32_t> begins;        // where each range begins in `ids`; then ids.size()
    std::vector<ContextCount> contexts;  // sorted by pretoken, then by `next`
  };

  // The length of the prefix that all pretokens of a range share.
  size_t shared_prefix(size_t range) const {
    if (range == 0 || range == begins_.size()) return 0;
    const std::string_view first = begins_[range - 1].text, end = begins_[range].text;
    size_t i = 0;
    while (i < first.size() && i < end.size() && first[i] == end[i]) ++i;
    return i;
  }

  // Finds the rows of a pretoken, in order, as (code of the context, count).
  void find_rows(uint32_t id, std::vector<std::pair<uint32_t, uint64_t>>& rows) const {
    rows.clear();
    const PretokenUse& use = pretokens_.use(id);
    if (use.inner > 0) rows.emplace_back(uint32_t(kSpaceMark), use.inner);
    if (use.last > 0) rows.emplace_back(kSentenceEnd | kSpaceMark, use.last);
    const std::vector<ContextCount>& contexts = shards_[pretokens_.shard_of(id)].contexts;
    auto context =
        std::lower_bound(contexts.begin(), contexts.end(), id,
                         [](const ContextCount& c, uint32_t id) { return c.pretoken < id; });
    for (; context != contexts.end() && context->pretoken == id; ++context) {
      rows.emplace_back(context->next, context->count);
    }
    std::sort(rows.begin(), rows.end());
  }

  const PretokenTable& pretokens_;
  std::vector<Shard> shards_;
  std::vector<Key> begins_;  // the lower bounds of all ranges except the first one
  size_t bytes_;
};

inline std::unique_ptr<SortedRows> sort_rows(const std::unique_ptr<PretokenCounts>& counts,
                                             size_t range_pretokens, size_t range_bytes,
                                             Crew& crew) {
  return std::make_unique<SortedRows>(counts->pretokens(), range_pretokens, range_bytes, crew);
}

// Returns the rows of several consecutive ranges, the first of which is `first`: one range for each
// worker, or fewer if fewer ranges remain.
inline std::vector<std::vector<RowBlock>> sorted_ranges(const std::unique_ptr<SortedRows>& rows,
                                                        size_t first, Crew& crew) {
  std::vector<std::vector<RowBlock>> found(std::min(crew.size(), rows->ranges() - first));
  crew.for_each(found.size(), [&](size_t i) { found[i] = rows->sorted(first + i); });
  return found;
}

}  // namespace spmcompat
