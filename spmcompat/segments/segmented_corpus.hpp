// The text on which the trainers train: distinct segments with the symbols that follow them, and
// pretokens as sequences of segments.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spmcompat/containers/string_list.hpp"
#include "spmcompat/old_releases/seed_counts.hpp"

namespace spmcompat {

// Records whether all occurrences of a string are followed by the same symbol, and by which one. If
// the seed tree consists of characters, a symbol is a character. If it consists of bytes, a symbol
// is the first byte of a character.
class NextCharacter {
 public:
  static constexpr uint32_t kTextEnd = 0x110000;  // the symbol for the end of the text

  void add(uint32_t next) { value_ = value_ == kNone || value_ == next ? next : kMany; }
  void add(NextCharacter other) {
    if (other.value_ != kNone) add(other.value_);
  }
  bool many() const { return value_ == kMany; }
  // The symbol that always follows, if many() is false and an occurrence was added.
  uint32_t symbol() const { return value_; }

 private:
  static constexpr uint32_t kNone = 0x110001, kMany = 0x110002;
  uint32_t value_ = kNone;
};

// The symbols that follow the occurrences of a string. The end of a sentence counts as the symbol
// zero.
struct Followers {
  NextCharacter next;
  NextCharacter after_end;  // the first symbol of the next sentence, if the string ends a sentence
  uint64_t at_end = 0;      // how often the string ends a sentence

  void add(const Followers& other) {
    next.add(other.next);
    after_end.add(other.after_end);
    at_end += other.at_end;
  }
};

// The count of a segment in the text, and the symbols that follow it.
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
  std::vector<SegmentUse> uses;  // the count and the followers of each segment
  // The segments of pretoken i are pretoken_segments[pretoken_begin[i]:pretoken_begin[i + 1]].
  std::vector<uint64_t> pretoken_begin;
  std::vector<uint32_t> pretoken_segments;
  std::vector<int64_t> pretoken_count;
  // The count of each seed whose count depends on the end of the text; empty in most releases.
  SeedCounts at_text_end;
};

}  // namespace spmcompat
