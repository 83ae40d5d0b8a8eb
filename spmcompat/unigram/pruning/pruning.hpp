// Pruning by loss. The loss of a piece is the decrease of the likelihood if the piece is
// dropped.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/unigram/em/partial_sums.hpp"
#include "spmcompat/unigram/lattice/lattice.hpp"
#include "spmcompat/unigram/piece_trie.hpp"
#include "spmcompat/unigram/pieces.hpp"
#include "spmcompat/unigram/pruning/losses.hpp"
#include "spmcompat/unigram/pruning/two_best.hpp"

namespace spmcompat {

inline float sum_counts(const std::vector<float>& count) {
  double total = 0.0;
  for (const float c : count) total += c;
  return static_cast<float>(total);
}

// Computes losses from the counts of the pieces in the best paths. The loss of a piece is weighted
// by the piece's `occurrences`, divided by `total`.
struct LossScale {
  const std::vector<float>* counts;
  const std::vector<float>* occurrences;
  float total;
  float sum;  // the sum of `counts`
  float log_sum;

  LossScale(const std::vector<float>& counts, const std::vector<float>& occurrences, float total)
      : counts(&counts),
        occurrences(&occurrences),
        total(total),
        sum(sum_counts(counts)),
        log_sum(std::log(static_cast<double>(sum))) {}

  // The fall in the likelihood if the alternative replaces the piece everywhere. As in the
  // reference, every logarithm is computed in double, and every intermediate result is rounded to
  // float.
  float loss(uint32_t id, const std::vector<uint32_t>& alternative) const {
    const std::vector<float>& count = *counts;
    const float share = (*occurrences)[id] / total;
    const float log_piece = std::log(static_cast<double>(count[id])) - log_sum;
    const float log_sum_after =
        std::log(static_cast<double>(sum + count[id] * static_cast<float>(alternative.size() - 1)));
    float log_alternative = 0.0f;
    for (const uint32_t piece : alternative) {
      log_alternative += std::log(static_cast<double>(count[piece] + count[id])) - log_sum_after;
    }
    return share * (log_piece - log_alternative);
  }
};

// The key of a piece without an alternative is its id, so it sorts before the keys of all losses.
// The other sort keys: ascending keys mean descending losses, then ascending ids.
inline uint64_t loss_key(float loss, uint32_t id) {
  uint32_t bits;
  loss += 0.0f;  // turns -0 into 0: equal losses need equal keys
  std::memcpy(&bits, &loss, sizeof bits);
  const uint32_t ascending = bits >> 31 ? ~bits : bits | 0x80000000u;
  return uint64_t{~ascending} << 32 | id;
}

inline float loss_of_key(uint64_t key) {
  if (key >> 32 == 0) return std::numeric_limits<float>::infinity();
  const uint32_t ascending = ~static_cast<uint32_t>(key >> 32);
  const uint32_t bits = ascending >> 31 ? ascending & 0x7fffffffu : ~ascending;
  float loss;
  std::memcpy(&loss, &bits, sizeof loss);
  return loss;
}

// Prefetches the data for the lattices of the next pieces, which is scattered in memory.
inline void prefetch_piece_lattices(const Lattices& lattices, const ExpectedCounts& counts,
                                    uint32_t id) {
  const auto for_position = [&](uint32_t later, auto function) {
    if (later < counts.positions.size() && counts.positions[later].known()) {
      function(counts.positions[later]);
    }
  };
  for_position(id + 12, [&](const NodePosition& at) { lattices.prefetch_begin(at.segment); });
  for_position(id + 8, [&](const NodePosition& at) { lattices.prefetch_nodes(at.segment); });
  for_position(id + 4, [&](const NodePosition& at) {
    const LatticeView view = lattices[at.segment];
    const uint32_t length = lattices.links()[id + 4].length;
    for (uint32_t i = 0; i < length; ++i) {
      __builtin_prefetch(&lattices.links()[view.first_nodes[at.begin + i]]);
    }
  });
}

// Adds to `keys` those pieces with ids in [first, last) that may stay in the vocabulary. Such a
// piece occurs in the best path of some text, and is the best segmentation of its own text.
inline void add_losses(const Pieces& pieces, const Lattices& lattices, const ExpectedCounts& counts,
                       const LossScale& scale, uint32_t first, uint32_t last, bool limited,
                       std::vector<uint64_t>& keys) {
  PieceLattice lattice;
  TwoBest two_best(limited);
  std::vector<uint32_t> alternative;
  for (uint32_t id = first; id < last; ++id) {
    prefetch_piece_lattices(lattices, counts, id);
    if (counts.expected[id] == 0) continue;
    if (counts.positions[id].known()) {
      lattice.build(lattices, counts.positions[id], lattices.links()[id].length);
    } else {  // piece 0 is in no best path: it has the count of the unknown piece, but no position
      lattice.build(PieceTrie(pieces), pieces, id, pieces.unknown_score());
    }
    switch (two_best.find(lattice, alternative)) {
      case Resegmentation::kOnlyPath: keys.push_back(id); break;
      case Resegmentation::kSplit: break;
      case Resegmentation::kAlternative: keys.push_back(loss_key(scale.loss(id, alternative), id));
    }
  }
}

// Radix sort by the losses. The ids are already in order, and the sort is stable.
inline void sort_by_loss(std::vector<uint64_t>& keys) {
  constexpr int kBits = 11;
  constexpr uint64_t kDigits = 1 << kBits;
  std::vector<uint64_t> sorted(keys.size());
  for (int shift = 32; shift < 64; shift += kBits) {
    std::array<size_t, kDigits + 1> begin{};
    for (const uint64_t key : keys) ++begin[(key >> shift) % kDigits + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    for (const uint64_t key : keys) sorted[begin[(key >> shift) % kDigits]++] = key;
    keys.swap(sorted);
  }
}

// Returns the losses of all pieces. `counts` contains how often each piece occurs in the best
// paths. The loss of a piece is weighted by the piece's `occurrences`, divided by `total`.
inline Losses find_losses(const Pieces& pieces, const Lattices& lattices,
                          const ExpectedCounts& counts, const std::vector<float>& occurrences,
                          float total, bool limited, Crew& crew) {
  constexpr size_t kRange = 4096;  // the number of pieces that a worker takes at a time
  const LossScale scale(counts.expected, occurrences, total);
  const size_t size = counts.expected.size();
  std::vector<std::vector<uint64_t>> ranges((size + kRange - 1) / kRange);
  crew.for_each_range(size, kRange, [&](size_t first, size_t last) {
    add_losses(pieces, lattices, counts, scale, first, last, limited, ranges[first / kRange]);
  });
  std::vector<uint64_t> keys;
  for (const std::vector<uint64_t>& range : ranges) {
    keys.insert(keys.end(), range.begin(), range.end());
  }
  sort_by_loss(keys);
  Losses found;
  for (const uint64_t key : keys) {
    found.ids.push_back(static_cast<uint32_t>(key));
    found.losses.push_back(loss_of_key(key));
    found.irreplaceable += key >> 32 == 0;
  }
  return found;
}

}  // namespace spmcompat
