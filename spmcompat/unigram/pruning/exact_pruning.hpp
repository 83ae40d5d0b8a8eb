// Exact losses: how much the best segmentation of the corpus costs more when one piece alone is
// taken away. The second-best segmentation of the piece's own text is only a bound of it: once the
// piece is gone, a segmentation of the word that cuts across its borders may be the best.
//
// No piece crosses the end of a segment, so segments are cut by themselves, each once, and again
// without each of the pieces of its best path.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "spmcompat/unigram/lattice/best_path.hpp"
#include "spmcompat/unigram/em/e_step.hpp"
#include "spmcompat/unigram/lattice/lattice.hpp"
#include "spmcompat/segments/segmented_corpus.hpp"

namespace spmcompat {

// How often each segment stands in the words; the texts of the segments may be gone.
inline std::vector<uint64_t> segment_counts(const SegmentedCorpus& corpus) {
  const std::vector<uint32_t>& all = corpus.word_segments;
  std::vector<uint64_t> counts(all.empty() ? 0 : *std::max_element(all.begin(), all.end()) + 1, 0);
  for (size_t word = 0; word < corpus.word_count.size(); ++word) {
    for (uint64_t i = corpus.word_begin[word]; i < corpus.word_begin[word + 1]; ++i) {
      counts[corpus.word_segments[i]] += corpus.word_count[word];
    }
  }
  return counts;
}

// What the pieces of some segments lose there, in the order of the segments.
using Losses = std::vector<std::pair<uint32_t, double>>;

class ExactLosses {
 public:
  ExactLosses(const Lattices& lattices, const Arithmetic& arithmetic)
      : lattices_(lattices), chains_(lattices.chains()), paths_(lattices, arithmetic) {}

  // Adds those of the segments [first, last).
  void add(uint32_t first, uint32_t last, const std::vector<uint64_t>& counts, Losses& losses) {
    for (uint32_t next = first; first < last; first = next) {
      for (; next < last && !paths_.full(); ++next) paths_.add(&next, 1);
      paths_.find();
      for (uint32_t i = first; i < next; ++i) add(i - first, lattices_[i], counts[i], losses);
      paths_.clear();
    }
  }

 private:
  static constexpr float kNone = -std::numeric_limits<float>::infinity();

  void add(size_t path, const LatticeView& view, uint64_t count, Losses& losses) {
    const float best = paths_.score(path);
    used_.clear();
    paths_.for_each_backwards(path, [this](uint32_t piece, const NodePlace&) {
      if (!chains_.is_unknown(piece)) used_.push_back(piece);
    });
    std::sort(used_.begin(), used_.end());
    used_.erase(std::unique(used_.begin(), used_.end()), used_.end());
    for (const uint32_t piece : used_) {
      losses.emplace_back(piece, count * (double(best) - best_without(piece, view)));
    }
  }

  float best_without(uint32_t piece, const LatticeView& view) {
    best_.assign(view.length + 1, kNone);
    best_[0] = 0.0f;
    for (uint32_t i = 0; i < view.length; ++i) {
      chains_.for_each(view.tops[i], [&](uint32_t id, const ChainNode& node) {
        float& end = best_[i + node.length];
        if (id != piece) end = std::max(end, best_[i] + node.score);
      });
    }
    return best_.back();
  }

  const Lattices& lattices_;
  const PieceChains& chains_;
  BestPaths paths_;
  std::vector<uint32_t> used_;
  std::vector<float> best_;
};

inline Losses exact_losses(const std::vector<uint64_t>& counts, const Lattices& lattices,
                           const Arithmetic& arithmetic, size_t block,
                           const volatile int* cancel) {
  Losses losses;
  if (*cancel) return losses;
  const size_t begin = block * Lattices::kBlockSize;
  const size_t end = std::min(counts.size(), begin + Lattices::kBlockSize);
  ExactLosses(lattices, arithmetic)
      .add(static_cast<uint32_t>(begin), static_cast<uint32_t>(end), counts, losses);
  return losses;
}

// The pieces that some best path uses, by loss descending, id ascending, and all that no path can
// do without, until `size` are reached. A piece that is not used loses nothing and is dropped.
inline std::vector<uint32_t> select_by_loss(const std::vector<double>& losses,
                                            const std::vector<bool>& used, size_t size) {
  std::vector<uint32_t> kept;
  for (uint32_t id = 0; id < losses.size(); ++id) {
    if (used[id]) kept.push_back(id);
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [&](uint32_t a, uint32_t b) { return losses[a] > losses[b]; });
  size_t end = std::min(size, kept.size());
  while (end < kept.size() && losses[kept[end]] == std::numeric_limits<double>::infinity()) ++end;
  kept.resize(end);
  return kept;
}

}  // namespace spmcompat
