// Candidates for seeds, their scores, and a lower bound of the scores of seeds. Candidates below
// the bound cannot become seeds, so they are dropped early.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <vector>

namespace spmcompat {

// The score of a candidate is its count times a power of its length in characters. Before 0.2.3
// (`whole`), the score is a whole number that is rounded to float once.
class CandidateScores {
 public:
  CandidateScores(size_t longest, float length_power, bool whole) : whole_(whole) {
    for (size_t length = 0; length <= longest; ++length) {
      weight_.push_back(weight(static_cast<float>(length), length_power));
    }
  }

  float of(uint64_t count, size_t characters) const {
    if (whole_) return static_cast<float>(count * characters);
    return static_cast<float>(count) * weight_[characters];
  }

  // A number for sorting candidates by their exact scores: the score itself if it is a whole
  // number, otherwise the bits of the float. (Positive floats have the same order as their bits.)
  uint64_t rank(uint64_t count, size_t characters) const {
    if (whole_) return count * characters;
    const float score = of(count, characters);
    uint32_t bits;
    std::memcpy(&bits, &score, sizeof bits);
    return bits;
  }

 private:
  // The result is rounded as in the reference, which calls sqrt for the power 1/2.
  static float weight(float length, float power) {
    return power == 0.5f ? std::sqrt(length) : std::pow(length, power);
  }

  bool whole_;
  std::vector<float> weight_;  // the factor for each length in characters
};

// Returns the smallest count that a candidate of more than three bytes may have. With alpha = 1,
// this is, by Zipf's law, approximately how often the rarest piece of the vocabulary occurs in a
// text of `text_bytes` bytes.
inline uint64_t least_count(float alpha, double text_bytes, int vocab_size) {
  const float size = static_cast<float>(std::max(vocab_size, 1));
  const float count =
      alpha * static_cast<float>(text_bytes) / std::max(1.0f, size * std::log(size));
  // The reference converts `count` to an integer of 64 bits even if it is out of the range of such
  // integers. The results below are those on x86-64.
  if (!(count > -1.0f)) return std::numeric_limits<uint64_t>::max();
  return count < 0x1p64f ? static_cast<uint64_t>(count) : 0;
}

// The first eight bytes of a text as a number. These numbers have the same order as the bytes. A
// shorter text is padded with zeros, but eight bytes must be readable.
inline uint64_t text_key(const char* text, uint32_t size) {
  uint64_t key;
  std::memcpy(&key, text, 8);
  key = __builtin_bswap64(key);
  return size < 8 ? key & ~uint64_t(0) << (64 - 8 * size) : key;
}

struct Candidate {
  uint64_t count;
  uint32_t begin;  // the offset of an occurrence in the text of all segments
  uint16_t bytes;
  uint16_t characters;
};

// A lower bound of the `limit`-th best score. It is found by counting the scores in bins, and rises
// while candidates are found. Several workers may use this object at the same time.
class ScoreBound {
 public:
  ScoreBound(size_t limit, const CandidateScores& scores)
      : limit_(limit), scores_(scores), count_(kBins) {}

  bool reached_by(float score) const {
    return bin_of(score) >= lowest_.load(std::memory_order_relaxed);
  }

  void add(const std::vector<Candidate>& candidates) {
    const std::lock_guard<std::mutex> lock(mutex_);
    uint32_t lowest = lowest_.load(std::memory_order_relaxed);
    for (const Candidate& candidate : candidates) {
      const uint32_t bin = bin_of(scores_.of(candidate.count, candidate.characters));
      if (bin < lowest) continue;
      ++count_[bin];
      ++above_;
    }
    while (lowest < kBins && above_ - count_[lowest] >= limit_) above_ -= count_[lowest++];
    lowest_.store(lowest, std::memory_order_relaxed);
  }

  // The upper bits of the float determine the bin of a score: the exponent and nine bits of the
  // mantissa. Bins have the same order as the scores, because scores are positive. The sign bit is
  // cleared, because it may be set in a NaN.
  static uint32_t bin_of(float score) {
    uint32_t bits;
    std::memcpy(&bits, &score, sizeof bits);
    return (bits & 0x7fffffff) >> 14;
  }

  // Divides the bins, highest first, into parts with about the same number of candidates. Returns,
  // for each bin, the number of its part.
  std::vector<uint32_t> divide(size_t parts) const {
    std::vector<uint32_t> part_of(kBins, 0);
    size_t passed = 0;
    for (uint32_t bin = kBins; bin-- > lowest_;) {
      part_of[bin] = std::min(passed * parts / std::max<size_t>(above_, 1), parts - 1);
      passed += count_[bin];
    }
    return part_of;
  }

 private:
  static constexpr uint32_t kBins = 1 << 17;

  size_t limit_;
  const CandidateScores& scores_;
  std::mutex mutex_;
  std::vector<size_t> count_;        // the number of candidates in each bin
  size_t above_ = 0;                 // the number of candidates in bin `lowest_` and higher bins
  std::atomic<uint32_t> lowest_{0};  // the bin that contains the bound
};

}  // namespace spmcompat
