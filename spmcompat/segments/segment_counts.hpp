// Distinct segments and how often each stands in the text: all that merging needs of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/segments/segmented_corpus.hpp"
#include "spmcompat/containers/string_table.hpp"
#include "spmcompat/unicode/utf8.hpp"
#include "spmcompat/old_releases/word_rule.hpp"

namespace spmcompat {

class SegmentCounts {
 public:
  size_t size() const { return counts_.size(); }
  std::string_view text(size_t id) const { return segments_[id]; }
  uint64_t count(size_t id) const { return counts_[id]; }

  void add(std::string_view segment, uint64_t count) {
    const uint32_t id = segments_.add(segment);
    if (id == counts_.size()) counts_.push_back(0);
    counts_[id] += count;
  }

  void add(const SegmentCounts& other) {
    for (size_t id = 0; id < other.size(); ++id) add(other.text(id), other.count(id));
  }

  // Cuts a word wherever no piece can lie across, and around every character that is not
  // required. A segment of one character holds no pair and is left out.
  void add_parts(std::string_view word, uint64_t count, const PieceRule& rule,
                 const std::vector<bool>& required) {
    const char* end = word.data() + word.size();
    const char* head = word.data();
    size_t length = 0;  // of the segment that begins at head, in characters
    char32_t left = 0;
    const auto cut = [&](const char* at) {
      if (length > 1) add(std::string_view(head, at - head), count);
      head = at;
      length = 0;
    };
    for (const char* p = head; p < end;) {
      size_t size;
      const char32_t right = decode_utf8(p, end, &size);
      if (!required[right]) {
        cut(p);
        head = p + size;
      } else {
        if (length > 0 && rule.parts(left, right)) cut(p);
        ++length;
        left = right;
      }
      p += size;
    }
    cut(end);
  }

  // Cuts a word in which rare characters are replaced.
  void add_word(std::string word, uint64_t count, const WordRule& rule) {
    for_each_part(std::move(word), rule, [&](std::string_view part) { add(part, count); });
  }

 private:
  StringTable segments_;
  std::vector<uint64_t> counts_;
};

// The segments of all words, in the order in which they first stand there.
inline SegmentCounts cut_words(SegmentedCorpus corpus, const WordRule& rule) {
  SegmentCounts found;
  std::vector<SegmentUse>().swap(corpus.uses);
  for (size_t i = 0; i < corpus.word_count.size(); ++i) {
    found.add_word(corpus.word_text(i), static_cast<uint64_t>(corpus.word_count[i]), rule);
  }
  return found;
}

// The segments themselves, while their uses are there.
inline SegmentCounts count_segments(const SegmentedCorpus& corpus) {
  SegmentCounts found;
  for (size_t i = 0; i < corpus.uses.size(); ++i) {
    found.add(corpus.segments[i], corpus.uses[i].count);
  }
  return found;
}

}  // namespace spmcompat
