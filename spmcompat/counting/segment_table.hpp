// A table of distinct segments with their counts, on which BPE trains. All workers add to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/containers/shared_table.hpp"
#include "spmcompat/counting/character_counts.hpp"
#include "spmcompat/counting/worker_table.hpp"
#include "spmcompat/pretokenization/cuts.hpp"
#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/runtime/cancel.hpp"
#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

struct SegmentSum {
  uint64_t count = 0;
  void add(const SegmentSum& other) { count += other.count; }
};

class SegmentTable : public SharedTable<SegmentSum> {
 public:
  using SharedTable::SharedTable;

  // Calls function(text, count) for every segment of a shard.
  template <typename Function>
  void for_each(uint32_t shard, Function function) const {
    for (uint32_t i = 0; i < size(shard); ++i) {
      const uint32_t segment = id(shard, i);
      if (use(segment).count != kRemoved) function((*this)[segment], use(segment).count);
    }
  }

  // Splits all segments at the characters that are not required, and drops these characters. Parts
  // of a single character are left out, because BPE has no pair to merge in them.
  void split(const std::vector<bool>& required, Crew& crew) {
    struct Part {
      std::string_view text;
      uint64_t count;
    };
    std::vector<std::vector<Part>> parts(shards());  // for each shard: the parts of its segments
    crew.for_each(shards(), [&](uint32_t shard) {
      for (uint32_t i = 0; i < size(shard); ++i) {
        const uint32_t segment = id(shard, i);
        const std::string_view text = (*this)[segment];
        if (contains_only(text, required)) continue;
        const uint64_t count = use(segment).count;
        // The rule has already cut the text into segments, so no rule is needed here.
        for_each_long_segment(text, PieceRule(), required, [&](std::string_view part) {
          parts[shard].push_back({part, count});
        });
        update(segment, [](SegmentSum& sum) { sum.count = kRemoved; });
      }
    });
    crew.for_each(shards(), [&](uint32_t shard) {
      for (const Part& part : parts[shard]) add(part.text, {part.count});
      std::vector<Part>().swap(parts[shard]);
    });
  }

 private:
  static constexpr uint64_t kRemoved = ~uint64_t{0};
};

// Counts the characters of a worker's texts, adds the segments of the texts to a table, and frees
// the texts. Leaves out segments of a single character. Throws Cancelled if `cancel` is set.
inline void cut_texts(WorkerTable& read, const PieceRule& rule, CharacterCounts& characters,
                      SegmentTable& table, const CancelFlag& cancel) {
  constexpr size_t kBufferBytes = 1 << 17;
  SharedTableBuffer<SegmentSum> buffer(table);
  std::vector<uint32_t> ids;  // receives the ids of the added segments, which are not needed
  std::string texts;          // the texts of the segments in the buffer
  const auto flush = [&] {
    cancel.check();
    buffer.flush(ids);
    ids.clear();
    texts.clear();
  };
  const auto add_segment = [&](std::string_view segment, uint64_t count) {
    if (segment.size() <= char_size(segment[0])) return;
    buffer.add(segment, {count}, ids.size());
    ids.push_back(0);
  };
  texts.reserve(kBufferBytes);
  read.consume_texts([&](std::string_view original, uint64_t count) {
    if (original.empty()) return;
    if (texts.size() + original.size() > kBufferBytes || buffer.full()) flush();
    if (original.size() > kBufferBytes) texts.reserve(original.size());
    const size_t begin = texts.size();
    texts.append(original);
    const std::string_view text = std::string_view(texts).substr(begin);
    size_t size;
    characters.add(decode_utf8(text.data(), text.data() + text.size(), &size), count);
    const auto cut = [&](char32_t left, char32_t right) {
      characters.add(right, count);
      return rule.parts(left, right);
    };
    for_each_slice(text, cut,
                   [&](std::string_view segment, char32_t) { add_segment(segment, count); });
  });
  flush();
}

}  // namespace spmcompat
