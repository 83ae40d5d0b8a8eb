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
  uint32_t view;   // number of the segment in the word
  uint32_t begin;  // in the segment
};

class BestPath {
 public:
  // No piece is longer than `longest` characters.
  BestPath(const PieceChains& chains, const std::vector<NodePiece>& pieces, size_t longest)
      : chains_(chains),
        pieces_(pieces),
        longest_(longest),
        margin_(std::fabs(pieces[chains.unknown()].score)) {}

  void begin() {
    views_.clear();
    steps_.assign(1, Step{0.0f, 0});
  }

  // Goes forward through the next segment of the word.
  void add(const LatticeView& view) {
    const size_t base = steps_.size() - 1;
    views_.push_back(view);
    steps_.resize(base + view.length + 1, kUnreached);
    nodes_.clear();
    nodes_.add(view, chains_);
    const uint32_t* nodes = nodes_.data();
    size_t at = base - 1;
    for (size_t k = view.size; k-- > 0;) {
      const uint32_t piece = piece_of(nodes[k]);
      at += is_last(nodes[k]);  // the first node met of its position
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
    for (uint32_t v = static_cast<uint32_t>(views_.size()); v-- > 0;) {
      const size_t base = at - views_[v].length;
      while (at > base) {
        uint32_t piece = steps_[at].piece;
        if (piece & kNear) piece = first_equal(views_[v], base, at, right);
        const size_t begin = at - pieces_[piece].length;
        function(PathNode{piece, v, static_cast<uint32_t>(begin - base)});
        right = pieces_[piece].score;
        at = begin;
      }
    }
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

  uint32_t first_equal(const LatticeView& view, size_t base, size_t at, float right) const {
    const float best = steps_[at].best + right;
    const size_t end = at - base;
    uint32_t found = steps_[at].piece & ~kNear;
    bool is_found = false;
    for (size_t i = end > longest_ ? end - longest_ : 0; i < end && !is_found; ++i) {
      chains_.for_each(view.longest[i], [&](uint32_t piece) {
        if (i + pieces_[piece].length != end) return;
        if ((steps_[base + i].best + pieces_[piece].score) + right != best) return;
        found = piece;
        is_found = true;
      });
    }
    return found;
  }

  const PieceChains& chains_;
  const std::vector<NodePiece>& pieces_;
  size_t longest_;
  float margin_;  // no piece scores lower than the unknown one
  std::vector<LatticeView> views_;
  std::vector<Step> steps_;
  NodeList nodes_;  // of the segment at hand
};

}  // namespace spmcompat
