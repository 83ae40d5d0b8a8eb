// The active set: the pairs among which sentencepiece 0.2.0 and 0.2.1 look for the next merge.
//
// The set is renewed every 100 merges. It then consists of the most frequent pairs. Their number is
// 5 % of the number of characters and pairs, but at least 1000. Until the next renewal, merges are
// chosen among these pairs and the new pairs.
//
// Of the pairs with the lowest count, the set may contain only some. The order of a hash table and
// the heap of a partial sort decide which ones. Both depend only on the input, because the keys are
// fingerprints of texts. The containers here keep their elements in the same order as those of the
// reference.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spmcompat/bpe/pairs.hpp"
#include "spmcompat/containers/gnu_hash_map.hpp"
#include "spmcompat/containers/gnu_heap.hpp"

namespace spmcompat {

constexpr size_t kRenewal = 100;  // the number of merges until the active set is renewed

// The size of the active set for a number of symbols (characters and pairs). It is computed in
// float, as in the reference.
inline size_t active_size(size_t symbols) {
  return std::max<size_t>(1000, static_cast<size_t>(symbols * 0.05f));
}

// All characters, and all pairs that may still occur, in the order of the reference's hash table.
class SymbolCache {
 public:
  // All characters must be added before merged symbols. The calls must be in the order of the
  // symbols' ids.
  void add_character(char32_t character) {
    prints_.push_back(character);
    cache_.insert(prints_.back(), kCharacter);
  }
  void add_merged(uint32_t left, uint32_t right) { prints_.push_back(print(left, right)); }

  void add_pair(uint32_t left, uint32_t right, uint32_t pair) {
    cache_.insert(print(left, right), pair);
  }
  void erase_pair(uint32_t left, uint32_t right) { cache_.erase(print(left, right)); }

  // The current active set, in unspecified order.
  std::vector<uint32_t> most_frequent(const PairTable& pairs) const {
    struct Ranked {
      uint64_t count;
      uint32_t pair;
    };
    std::vector<Ranked> ranked;
    ranked.reserve(cache_.size());
    cache_.for_each([&](uint64_t, uint32_t pair) {
      if (pair != kCharacter) ranked.push_back({pairs[pair].count, pair});
    });
    const size_t size = std::min(active_size(cache_.size()), ranked.size());
    gnu_partial_sort(ranked, size,
                     [](const Ranked& a, const Ranked& b) { return a.count > b.count; });
    std::vector<uint32_t> active(size);
    for (size_t i = 0; i < size; ++i) active[i] = ranked[i].pair;
    return active;
  }

 private:
  static constexpr uint32_t kCharacter = 0xffffffffu;

  uint64_t print(uint32_t left, uint32_t right) const {
    return fingerprint(prints_[left], prints_[right]);
  }

  // The 64-bit mixing function of Bob Jenkins (1997), with the constant that the reference uses.
  // It mixes three words; the last one is the result.
  static uint64_t fingerprint(uint64_t a, uint64_t c) {
    uint64_t b = 0xe08c1d668b756f82;
    constexpr int kShifts[4][3] = {{43, 9, 8}, {38, 23, 5}, {35, 49, 11}, {12, 18, 22}};
    for (const auto& [first, second, third] : kShifts) {
      a = (a - b - c) ^ (c >> first);
      b = (b - c - a) ^ (a << second);
      c = (c - a - b) ^ (b >> third);
    }
    return c;
  }

  std::vector<uint64_t> prints_;  // the fingerprints of the symbols
  GnuHashMap<uint32_t> cache_;
};

}  // namespace spmcompat
