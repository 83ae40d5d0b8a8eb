// The text on which the trainers train: distinct segments with the characters that follow them, and
// pretokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spmcompat/containers/string_list.hpp"
#include "spmcompat/old_releases/seed_counts.hpp"

namespace spmcompat {

// What follows the occurrences of a string: nothing yet, always the same character, or different
// characters. A seed tree of bytes uses the first byte of each character instead of the character.
class NextCharacter {
 public:
  static constexpr uint32_t kTextEnd = 0x110000;  // the end of the text is treated like a character

  void add(uint32_t next) { value_ = value_ == kNone || value_ == next ? next : kMany; }
  void add(NextCharacter other) {
    if (other.value_ != kNone) add(other.value_);
  }
  bool many() const { return value_ == kMany; }
  // The next character, if there is exactly one.
  uint32_t symbol() const { return value_; }

 private:
  static constexpr uint32_t kNone = 0x110001, kMany = 0x110002;
  uint32_t value_ = kNone;
};

// The characters that follow the occurrences of a string. The end of a sentence counts as the
// character zero.
struct Followers {
  NextCharacter next;
  NextCharacter after_end;  // the first character of the next sentence, if there is one
  uint64_t at_end = 0;      // how often the string ends a sentence

  void add(const Followers& other) {
    next.add(other.next);
    after_end.add(other.after_end);
    at_end += other.at_end;
  }
};

// The count of a segment in the text, and the characters that follow it.
struct SegmentUse {
  uint64_t count = 0;
  Followers followers;

  void add(const SegmentUse& other) {
    count += other.count;
    followers.add(other.followers);
  }
};

struct SegmentedCorpus {
  size_t segments_size() const { return segments.size(); }
  std::string segment_text(uint32_t segment) const { return std::string(segments[segment]); }
  std::string pretoken_text(size_t pretoken) const {
    std::string text;
    for (uint64_t i = pretoken_begin[pretoken]; i < pretoken_begin[pretoken + 1]; ++i) {
      text.append(segments[pretoken_segments[i]]);
    }
    return text;
  }

  StringList segments;
  std::vector<SegmentUse> uses;      // by segment
  std::vector<uint64_t> pretoken_begin;  // pretoken -> range of pretoken_segments
  std::vector<uint32_t> pretoken_segments;
  std::vector<int64_t> pretoken_count;
  SeedCounts at_text_end;  // only for releases in which the end of the text changes counts of seeds
};

}  // namespace spmcompat
