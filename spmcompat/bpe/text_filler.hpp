// Fills a text with the letters of all segments. Workers share the work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/bpe/symbol_text.hpp"
#include "spmcompat/bpe/symbols.hpp"
#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/segments/segment_counts.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

// The order in which the text contains the segments of a shard.
enum class SegmentOrder { kMostFrequentFirst, kAsGiven };

// The letters of a segment: its characters.
struct Characters {
  static constexpr size_t kCodes = kCodePoints;

  size_t count(std::string_view segment) const { return count_chars(segment); }
  template <typename Function>
  void for_each(std::string_view segment, Function function) const {
    for_each_character(segment, function);
  }
};

// `Letters` divides a segment into letters, like `Characters`. A letter has a code below kCodes,
// which `Symbols` stores as a character.
template <typename Letters>
class TextFiller {
 public:
  TextFiller(SegmentCounts segments, const Letters& letters, SegmentOrder order, SymbolText& text,
             Symbols& symbols, size_t parts)
      : segments_(std::move(segments)),
        letters_(letters),
        order_(order),
        text_(text),
        symbols_(symbols),
        shards_(segments_.shards()),
        parts_(parts) {}

  // Returns the number of letters in the corpus.
  uint64_t fill(Crew& crew) {
    crew.for_each(parts_.size(), [this](size_t part) { measure(part); });
    allocate();
    crew.for_each(parts_.size(), [this](size_t part) { write(part); });
    number();
    crew.for_each(parts_.size(), [this](size_t part) { translate(part); });
    uint64_t letters = 0;
    for (const Part& part : parts_) letters += part.letters;
    return letters;
  }

 private:
  // In `measure` and `write`, a part consists of some shards of the segments; in `translate`, it is
  // a range of positions.
  void measure(size_t part) {
    for (uint32_t shard = part; shard < segments_.shards(); shard += parts_.size()) {
      size_t& positions = shards_[shard].positions;
      segments_.for_each(
          shard, [&](std::string_view text, uint64_t) { positions += letters_.count(text) + 1; });
    }
  }

  void allocate() {
    size_t size = 1;
    for (Shard& shard : shards_) {
      shard.begin = size;
      size += shard.positions;
    }
    text_.begin_filling(size);
  }

  // Writes the segments of a part to the text as codes, and frees them.
  void write(size_t part) {
    std::vector<Segment> segments;
    for (uint32_t shard = part; shard < segments_.shards(); shard += parts_.size()) {
      segments.clear();
      segments_.for_each(shard, [&segments](std::string_view text, uint64_t count) {
        segments.push_back({text, count});
      });
      if (order_ == SegmentOrder::kMostFrequentFirst) {
        std::sort(segments.begin(), segments.end(),
                  [](const Segment& a, const Segment& b) { return a.count > b.count; });
      }
      write(segments, shards_[shard], parts_[part]);
      segments_.drop(shard);
    }
  }

  // Assigns a symbol to each letter.
  void number() {
    for (uint32_t known = 0; known < symbols_.size(); ++known)
      symbol_of_[symbols_[known][0]] = known;
    for (const Part& part : parts_) {
      for (const char32_t code : part.distinct) {
        uint32_t& symbol = symbol_of_[code];
        if (symbol == CharacterSymbols::kNone) symbol = symbols_.add(code);
      }
    }
    for (const Shard& shard : shards_) {
      text_.begins_.insert(text_.begins_.end(), shard.begins.begin(), shard.begins.end());
      text_.counts_.insert(text_.counts_.end(), shard.counts.begin(), shard.counts.end());
    }
    text_.end_filling(symbols_);
  }

  // Replaces codes with symbols in a part of the text.
  void translate(size_t part) {
    const size_t end = text_.size() * (part + 1) / parts_.size();
    for (size_t position = text_.size() * part / parts_.size(); position < end; ++position) {
      uint32_t& at = text_.at_[position];
      if (at != SymbolText::kEdge) at = symbol_of_.at(at);
    }
  }

  struct Segment {
    std::string_view text;
    uint64_t count;
  };
  struct Shard {
    size_t positions = 0;  // the number of positions that the segments of the shard take
    size_t begin = 0;      // the first position of the shard
    // The first position and the count of each range of neighbouring segments with the same count.
    std::vector<uint32_t> begins;
    std::vector<uint64_t> counts;
  };
  struct Part {
    std::vector<bool> seen = std::vector<bool>(Letters::kCodes);
    std::vector<char32_t> distinct;  // letters, in the order in which they first occur
    uint64_t letters = 0;            // the sum of length times count over the segments of the part
  };

  void write(const std::vector<Segment>& segments, Shard& shard, Part& part) {
    uint32_t* at = text_.at_.data() + shard.begin;
    for (const Segment& segment : segments) {
      if (shard.counts.empty() || shard.counts.back() != segment.count) {
        shard.begins.push_back(static_cast<uint32_t>(at - text_.at_.data()));
        shard.counts.push_back(segment.count);
      }
      const uint32_t* begin = at;
      letters_.for_each(segment.text, [&](char32_t code) {
        if (!part.seen[code]) {
          part.seen[code] = true;
          part.distinct.push_back(code);
        }
        *at++ = code;
      });
      part.letters += segment.count * static_cast<uint64_t>(at - begin);
      *at++ = SymbolText::kEdge;
    }
  }

  SegmentCounts segments_;
  const Letters& letters_;
  SegmentOrder order_;
  SymbolText& text_;
  Symbols& symbols_;
  CharacterSymbols symbol_of_;
  std::vector<Shard> shards_;
  std::vector<Part> parts_;
};

// Fills `text` from `segments`, and frees the segments. Adds their letters to `symbols`, which may
// contain other letters, but nothing else. Returns the number of letters in the corpus. Throws
// std::overflow_error if the text is too large.
template <typename Letters = Characters>
uint64_t fill_text(SegmentCounts segments, SegmentOrder order, SymbolText& text, Symbols& symbols,
                   Crew& crew, const Letters& letters = Letters()) {
  return TextFiller<Letters>(std::move(segments), letters, order, text, symbols, crew.size())
      .fill(crew);
}

}  // namespace spmcompat
