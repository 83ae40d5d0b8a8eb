// Distinct segments and how often each stands in the text: all that merging needs of it.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fold.hpp"
#include "piece_rule.hpp"
#include "segmented_corpus.hpp"
#include "string_table.hpp"
#include "utf8.hpp"

namespace spmcompat {

// Calls function(part) for the parts of a word between which no piece can lie across.
template <typename Function>
void for_each_part(std::string_view word, const PieceRule& rule, Function function) {
  const char* end = word.data() + word.size();
  const char* head = word.data();
  char32_t left = 0;
  for (const char* p = head; p < end;) {
    size_t size;
    const char32_t right = decode_utf8(p, end, &size);
    if (p > head && rule.parts(left, right)) {
      function(std::string_view(head, p - head));
      head = p;
    }
    left = right;
    p += size;
  }
  if (head < end) function(std::string_view(head, end - head));
}

// Puts a boundary mark in the place of every delimiter.
inline std::string delimited(std::string text, const std::string& delimiter) {
  if (delimiter.empty()) return text;
  for (size_t at = 0; (at = text.find(delimiter, at)) != std::string::npos; ++at) {
    text.replace(at, delimiter.size(), 1, static_cast<char>(kBoundaryMark));
  }
  return text;
}

// Whether two neighbours may be a piece, the second of which stands behind so many characters.
inline bool has_pair_behind(size_t place, std::string_view word, const PieceRule& rule) {
  char32_t pair[2] = {0, 0};
  bool found = false;
  for_each_character(word, [&](char32_t c) {
    pair[0] = pair[1];
    pair[1] = c;
    found |= place == 0 && rule.allows(pair, 2);
    if (place > 0) --place;
  });
  return found;
}

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

 private:
  StringTable segments_;
  std::vector<uint64_t> counts_;
};

// The segments of all words, in the order in which they first stand there. Words are cut at the
// delimiter too, if it is not empty. Throws std::length_error for a word with a pair beyond the
// place `longest`, if that is not 0.
inline SegmentCounts cut_words(SegmentedCorpus corpus, const PieceRule& rule,
                               const std::string& delimiter, size_t longest) {
  SegmentCounts found;
  std::vector<SegmentUse>().swap(corpus.uses);
  for (size_t i = 0; i < corpus.word_count.size(); ++i) {
    const std::string word = delimited(corpus.word_text(i), delimiter);
    if (longest > 0 && word.size() > longest && has_pair_behind(longest, word, rule)) {
      throw std::length_error("a word is too long");
    }
    for_each_part(word, rule, [&](std::string_view part) {
      found.add(part, static_cast<uint64_t>(corpus.word_count[i]));
    });
  }
  return found;
}

}  // namespace spmcompat
