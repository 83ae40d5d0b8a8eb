// A sample of sentences: either the first ones, or a uniform reservoir sample (Vitter 1985,
// algorithm R), which depends only on the seed and the input. A uniform sample may be limited to
// the first sentences of the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace spmcompat {

class ReservoirSample {
 public:
  // Keeps at most `size` of the first `among` sentences (of all if `among` is 0). With
  // `repeatable`, draws the same sample as the releases of sentencepiece whose sample is
  // repeatable: from 32-bit random numbers, with the indexes computed as in the GNU C++ library.
  // Version 11 and later of this library compute an index by multiplication (`multiplies`), earlier
  // versions by division.
  ReservoirSample(uint64_t size, bool shuffle, uint64_t seed, bool repeatable, bool multiplies,
                  uint64_t among)
      : size_(size),
        among_(among),
        shuffle_(shuffle),
        repeatable_(repeatable),
        multiplies_(multiplies),
        wide_random_(seed),
        narrow_random_(static_cast<uint32_t>(seed)) {}

  void offer(const char* text, size_t size, int64_t count) {
    if (done()) return;
    ++offered_;
    if (!full()) {
      sentences_.emplace_back(std::string(text, size), count);
      return;
    }
    const uint64_t index = index_below(offered_);
    if (index < size_) sentences_[index] = {std::string(text, size), count};
  }

  bool done() const { return (full() && !shuffle_) || (among_ > 0 && offered_ == among_); }
  uint64_t offered() const { return offered_; }
  size_t size() const { return sentences_.size(); }
  const std::pair<std::string, int64_t>& operator[](size_t i) const { return sentences_[i]; }

 private:
  bool full() const { return sentences_.size() >= size_; }

  uint64_t index_below(uint64_t bound) {
    if (!repeatable_) return below(bound);
    return multiplies_ ? multiplied_below(bound) : divided_below(bound);
  }

  // Returns a uniform number in [0, bound): the remainder of a random number. Rejects the highest
  // random numbers: among them, not all remainders are equally frequent.
  uint64_t below(uint64_t bound) {
    const uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    uint64_t drawn;
    do {
      drawn = wide_random_();
    } while (drawn >= limit);
    return drawn % bound;
  }

  // Returns a uniform number in [0, bound) from 32-bit random numbers. Divides their range into
  // `bound` equal parts, one for each result. Rejects random numbers in the rest of the range.
  uint64_t divided_below(uint64_t bound) {
    const uint64_t share = UINT32_MAX / bound;
    uint64_t drawn;
    do {
      drawn = narrow_random_();
    } while (drawn >= share * bound);
    return drawn / share;
  }

  // Returns a uniform number in [0, bound): the upper half of the product of a 32-bit random number
  // and the bound (Lemire 2019, "Fast random integer generation in an interval"). Rejects the
  // random number if the lower half of the product is less than 2^32 mod `bound`; without this,
  // some results would be more frequent.
  uint64_t multiplied_below(uint64_t bound) {
    const uint32_t rest = static_cast<uint32_t>((uint64_t{1} << 32) % bound);
    uint64_t product;
    do {
      product = uint64_t{narrow_random_()} * bound;
    } while (static_cast<uint32_t>(product) < rest);
    return product >> 32;
  }

  uint64_t size_, among_;
  bool shuffle_, repeatable_, multiplies_;
  std::mt19937_64 wide_random_;
  std::mt19937 narrow_random_;
  uint64_t offered_ = 0;
  std::vector<std::pair<std::string, int64_t>> sentences_;
};

inline size_t bytes_of(const ReservoirSample& sample, size_t first, size_t last) {
  size_t bytes = 0;
  for (size_t i = first; i < last; ++i) bytes += sample[i].first.size();
  return bytes;
}

}  // namespace spmcompat
