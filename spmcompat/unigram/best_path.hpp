// The best segmentation of a word (Viterbi), with the reference's ties.
//
// The reference compares, at every node, the scores of its left neighbours after its own
// score was added, in float; the first in order of their begin wins. Addition is monotone,
// so the best score behind a node is the best score at its position plus its own, and only
// the choice among nearly equal neighbours depends on the rounding. The forward pass keeps
// one score a position and marks where an earlier neighbour is that close; the way back
// compares again there.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "lattice.hpp"

namespace spmcompat {

struct PathNode {
  uint32_t piece;
  size_t view;   // number of the segment in the word
  size_t begin;  // in the segment
};

class BestPath {
 public:
  // No piece is longer than `longest` characters, or scores lower than the unknown one.
  BestPath(const std::vector<NodePiece>& pieces, size_t longest, float unknown_score)
      : pieces_(pieces), longest_(longest), margin_(std::fabs(unknown_score)) {}

  void begin() {
    views_.clear();
    steps_.assign(1, Step{0.0f, 0});
  }

  // Goes forward through the next segment of the word.
  void add(const LatticeView& view) {
    const size_t base = steps_.size() - 1;
    views_.push_back(view);
    steps_.resize(base + view.length + 1, kUnreached);
    size_t at = base - 1;
    for (size_t k = view.size; k-- > 0;) {
      const uint32_t piece = piece_of(view.nodes[k]);
      at += is_last(view.nodes[k]);  // the first node met of its position
      const float score = steps_[at].best + pieces_[piece].score;
      Step& step = steps_[at + pieces_[piece].length];
      // Without a branch, as it would be a guess.
      const bool near = step.best >= score - tolerance(score);
      const uint32_t better = -static_cast<uint32_t>(!(score <= step.best));
      step.piece = ((piece | (near ? kNear : 0)) & better) | (step.piece & ~better);
      step.best = step.best > score ? step.best : score;
    }
  }

  float score() const { return steps_.back().best; }

  // Calls function(node) for the nodes of the best path, from the last to the first.
  template <typename Function>
  void for_each_backwards(Function function) {
    size_t at = steps_.size() - 1;
    float right = 0.0f;  // the score of the node on the right
    for (size_t v = views_.size(); v-- > 0;) {
      const size_t base = at - views_[v].length;
      offsets_.clear();
      while (at > base) {
        uint32_t piece = steps_[at].piece;
        if (piece & kNear) piece = first_equal(views_[v], base, at, right);
        const size_t begin = at - pieces_[piece].length;
        function(PathNode{piece, v, begin - base});
        right = pieces_[piece].score;
        at = begin;
      }
    }
  }

  // How many nodes of the view stand up to the last one that begins where this one does. To be
  // called while for_each_backwards is there.
  uint32_t nodes_up_to(const PathNode& node) {
    const LatticeView& view = views_[node.view];
    index_positions(view);
    return offsets_[view.length - node.begin];
  }

 private:
  struct Step {
    float best;
    uint32_t piece;  // and kNear
  };

  static constexpr uint32_t kNear = 0x80000000u;  // an earlier neighbour may come out equal

  // No comparison with it holds, so whatever comes first takes its place, even an infinity.
  static constexpr Step kUnreached{std::numeric_limits<float>::quiet_NaN(), 0};

  // Two sums with one more score can only round to the same float if they lie this close.
  float tolerance(float score) const { return 2.5e-7f * (std::fabs(score) + margin_); }

  void index_positions(const LatticeView& view) {
    if (!offsets_.empty()) return;
    offsets_.push_back(0);
    for (uint32_t k = 0; k < view.size; ++k) {
      if (is_last(view.nodes[k])) offsets_.push_back(k + 1);
    }
  }

  uint32_t first_equal(const LatticeView& view, size_t base, size_t at, float right) {
    index_positions(view);
    const float best = steps_[at].best + right;
    const size_t end = at - base;
    for (size_t i = end > longest_ ? end - longest_ : 0; i < end; ++i) {
      const size_t place = view.length - 1 - i;  // positions stand from the last to the first
      for (uint32_t k = offsets_[place]; k < offsets_[place + 1]; ++k) {
        const uint32_t piece = piece_of(view.nodes[k]);
        if (i + pieces_[piece].length != end) continue;
        if ((steps_[base + i].best + pieces_[piece].score) + right == best) return piece;
      }
    }
    return steps_[at].piece & ~kNear;
  }

  const std::vector<NodePiece>& pieces_;
  size_t longest_;
  float margin_;
  std::vector<LatticeView> views_;
  std::vector<Step> steps_;
  std::vector<uint32_t> offsets_;  // of the positions of the segment at hand
};

}  // namespace spmcompat
