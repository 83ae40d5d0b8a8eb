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

#include "best_path.hpp"
#include "e_step.hpp"
#include "lattice.hpp"
#include "segmented_corpus.hpp"

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
  ExactLosses(const PieceChains& chains, const Scores& scores)
      : chains_(chains), scores_(scores.pieces), path_(chains, scores_, scores.longest()) {}

  void add(const LatticeView& view, uint64_t count, Losses& losses) {
    path_.begin();
    path_.add(view);
    const float best = path_.score();
    used_.clear();
    path_.for_each_backwards([this](const PathNode& node) {
      if (node.piece != chains_.unknown()) used_.push_back(node.piece);
    });
    std::sort(used_.begin(), used_.end());
    used_.erase(std::unique(used_.begin(), used_.end()), used_.end());
    nodes_.clear();
    nodes_.add(view, chains_);
    for (const uint32_t piece : used_) {
      const float score = std::exchange(scores_[piece].score, kNone);
      losses.emplace_back(piece, count * (double(best) - best_score(view.length)));
      scores_[piece].score = score;
    }
  }

 private:
  static constexpr float kNone = -std::numeric_limits<float>::infinity();

  float best_score(size_t length) {
    best_.assign(length + 1, kNone);
    best_[0] = 0.0f;
    size_t at = size_t(0) - 1;
    const uint32_t* nodes = nodes_.data();
    for (size_t k = nodes_.size(); k-- > 0;) {
      const NodePiece& piece = scores_[piece_of(nodes[k])];
      at += is_last(nodes[k]);  // the first node met of its position
      float& end = best_[at + piece.length];
      end = std::max(end, best_[at] + piece.score);
    }
    return best_.back();
  }

  const PieceChains& chains_;
  std::vector<NodePiece> scores_;
  BestPath path_;
  NodeList nodes_;
  std::vector<uint32_t> used_;
  std::vector<float> best_;
};

inline Losses exact_losses(const std::vector<uint64_t>& counts, const Lattices& lattices,
                           const Scores& scores, size_t block, const volatile int* cancel) {
  Losses losses;
  ExactLosses exact(lattices.chains(), scores);
  const size_t end = std::min(counts.size(), (block + 1) * Lattices::kBlockSize);
  for (size_t i = block * Lattices::kBlockSize; i < end && !*cancel; ++i) {
    exact.add(lattices[i], counts[i], losses);
  }
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
