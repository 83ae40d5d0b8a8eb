// The suffixes of all distinct segments, in buckets by their first character.
//
// All occurrences of a candidate begin with the same character, so each bucket is searched
// separately. Small buckets are grouped: a group is one task of a worker.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "spmcompat/containers/string_list.hpp"
#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

struct SuffixBucket {
  uint32_t begin, end;  // the range of the bucket in SuffixGroups::suffixes

  uint32_t size() const { return end - begin; }
};

struct SuffixGroups {
  std::vector<uint32_t> suffixes;     // positions in the text of the segments, by bucket
  std::vector<SuffixBucket> buckets;  // the largest first
  std::vector<size_t> group_begin;    // each group's first bucket; last, the number of buckets
  std::vector<size_t> group_size;     // the number of suffixes of each group
};

// Characters beyond the Basic Multilingual Plane share the last bucket.
constexpr uint32_t kSuffixBuckets = 0x10001;

inline uint32_t suffix_bucket(const char* suffix) {
  const auto bits = [suffix](size_t i, int mask) -> uint32_t {
    return static_cast<unsigned char>(suffix[i]) & mask;
  };
  switch (char_size(*suffix)) {
    case 1: return bits(0, 0x7f);
    case 2: return bits(0, 0x1f) << 6 | bits(1, 0x3f);
    case 3: return bits(0, 0x0f) << 12 | bits(1, 0x3f) << 6 | bits(2, 0x3f);
    default: return kSuffixBuckets - 1;
  }
}

// Divides the segments into `parts` parts. Calls function(position) for each suffix in part number
// `part`. Skips suffixes of one character, because a candidate has at least two characters.
template <typename Function>
void for_each_suffix(const StringList& segments, size_t part, size_t parts, Function function) {
  const char* text = segments.text();
  const uint64_t size = segments.size();
  const uint32_t last = static_cast<uint32_t>(size * (part + 1) / parts);
  for (uint32_t segment = static_cast<uint32_t>(size * part / parts); segment < last; ++segment) {
    const uint32_t end = segments.end(segment);
    uint32_t p = segments.begin(segment);
    for (uint32_t next; (next = p + char_size(text[p])) < end; p = next) function(p);
  }
}

// Sorts the suffixes into buckets with a counting sort.
inline SuffixGroups group_suffixes(const StringList& segments, Crew& crew) {
  constexpr size_t kMinGroup = 1 << 14;  // the smallest number of suffixes in a task
  const char* text = segments.text();
  const size_t parts = 2 * crew.size();
  std::vector<std::vector<uint32_t>> bucket_end(parts);  // indexed by part, then by bucket
  crew.for_each(parts, [&](size_t part) {
    std::vector<uint32_t>& count = bucket_end[part];
    count.assign(kSuffixBuckets, 0);
    for_each_suffix(segments, part, parts, [&](uint32_t p) { ++count[suffix_bucket(text + p)]; });
  });

  SuffixGroups groups;
  std::vector<SuffixBucket>& buckets = groups.buckets;
  uint32_t end = 0;
  for (uint32_t bucket = 0; bucket < kSuffixBuckets; ++bucket) {
    const uint32_t begin = end;
    for (std::vector<uint32_t>& part : bucket_end) end += std::exchange(part[bucket], end);
    if (end > begin) buckets.push_back({begin, end});
  }
  groups.suffixes.resize(end);
  crew.for_each(parts, [&](size_t part) {
    std::vector<uint32_t>& at = bucket_end[part];
    for_each_suffix(segments, part, parts,
                    [&](uint32_t p) { groups.suffixes[at[suffix_bucket(text + p)]++] = p; });
  });

  std::sort(buckets.begin(), buckets.end(), [](const SuffixBucket& a, const SuffixBucket& b) {
    return a.size() != b.size() ? a.size() > b.size() : a.begin < b.begin;
  });
  groups.group_begin.push_back(0);
  size_t size = 0;
  for (size_t bucket = 0; bucket < buckets.size(); ++bucket) {
    size += buckets[bucket].size();
    if (size < kMinGroup && bucket + 1 < buckets.size()) continue;
    groups.group_begin.push_back(bucket + 1);
    groups.group_size.push_back(size);
    size = 0;
  }
  return groups;
}

}  // namespace spmcompat
