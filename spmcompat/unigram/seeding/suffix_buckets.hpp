// The suffixes of all distinct segments, in buckets by their first character.
//
// A candidate has at least two characters, so every bucket can be searched by itself. Small buckets
// are grouped: a group is one task of a worker.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "spmcompat/containers/string_list.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

struct SuffixBucket {
  uint32_t begin, end;  // of its suffixes
  uint32_t character;   // one bucket holds all characters beyond the Basic Multilingual Plane

  uint32_t size() const { return end - begin; }
};

struct SuffixGroups {
  std::vector<uint32_t> suffixes;     // their positions in the text of the segments, by bucket
  std::vector<SuffixBucket> buckets;  // the largest first
  std::vector<size_t> group_begin;    // group -> range of buckets
  std::vector<size_t> group_size;     // in suffixes
};

// A counting sort in parts of the text, in this order:
//   1. count, for all parts.
//   2. lay_out.
//   3. fill, for all parts.
//   4. take, once.
class SuffixBuckets {
 public:
  SuffixBuckets(const StringList& segments, size_t parts)
      : segments_(segments), text_(segments.text()), bucket_end_(parts) {}

  void count(size_t part) {
    bucket_end_[part].assign(kBuckets, 0);
    for_each_suffix(part, [&](uint32_t p) { ++bucket_end_[part][bucket_of(p)]; });
  }

  void lay_out() {
    uint32_t end = 0;
    for (uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
      const uint32_t begin = end;
      for (std::vector<uint32_t>& part : bucket_end_) end += std::exchange(part[bucket], end);
      if (end > begin) groups_.buckets.push_back({begin, end, bucket});
    }
    groups_.suffixes.resize(end);
    std::vector<SuffixBucket>& buckets = groups_.buckets;
    std::sort(buckets.begin(), buckets.end(), [](const SuffixBucket& a, const SuffixBucket& b) {
      return a.size() != b.size() ? a.size() > b.size() : a.begin < b.begin;
    });
    groups_.group_begin.push_back(0);
    size_t size = 0;
    for (size_t bucket = 0; bucket < buckets.size(); ++bucket) {
      size += buckets[bucket].size();
      if (size < kMinGroup && bucket + 1 < buckets.size()) continue;
      groups_.group_begin.push_back(bucket + 1);
      groups_.group_size.push_back(size);
      size = 0;
    }
  }

  void fill(size_t part) {
    for_each_suffix(
        part, [&](uint32_t p) { groups_.suffixes[bucket_end_[part][bucket_of(p)]++] = p; });
    std::vector<uint32_t>().swap(bucket_end_[part]);
  }

  SuffixGroups take() { return std::move(groups_); }

 private:
  static constexpr uint32_t kBuckets = 0x10001;
  static constexpr size_t kMinGroup = 1 << 14;  // suffixes that are worth a task

  unsigned char byte_at(uint32_t p) const { return static_cast<unsigned char>(text_[p]); }

  template <typename Function>
  void for_each_suffix(size_t part, Function function) const {
    const uint64_t segments = segments_.size();
    const uint32_t last = segments * (part + 1) / bucket_end_.size();
    for (uint32_t segment = segments * part / bucket_end_.size(); segment < last; ++segment) {
      const uint32_t end = segments_.end(segment);
      uint32_t p = segments_.begin(segment);
      // A suffix of one character is left out: no candidate begins with it.
      for (uint32_t next; (next = p + char_size(text_[p])) < end; p = next) function(p);
    }
  }

  uint32_t bucket_of(uint32_t p) const {
    const auto bits = [this, p](size_t i, int mask) -> uint32_t { return byte_at(p + i) & mask; };
    switch (char_size(text_[p])) {
      case 1: return bits(0, 0x7f);
      case 2: return bits(0, 0x1f) << 6 | bits(1, 0x3f);
      case 3: return bits(0, 0x0f) << 12 | bits(1, 0x3f) << 6 | bits(2, 0x3f);
      default: return kBuckets - 1;
    }
  }

  const StringList& segments_;
  const char* text_;
  SuffixGroups groups_;
  std::vector<std::vector<uint32_t>> bucket_end_;  // by part and bucket
};

}  // namespace spmcompat
