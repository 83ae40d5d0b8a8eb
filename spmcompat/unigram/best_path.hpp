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

class BestPath {
 public:
  // `score` holds the pieces' scores and, last, that of the unknown piece; no piece is longer
  // than `longest` characters.
  BestPath(const std::vector<float>& score, size_t longest)
      : score_(score), longest_(longest), margin_(std::fabs(score.back())) {}

  void begin() {
    views_.clear();
    steps_.assign(1, Step{0.0f, 0, 0, false});
  }

  // Goes forward through the next segment of the word.
  void add(const LatticeView& view) {
    const size_t base = steps_.size() - 1;
    views_.push_back(view);
    steps_.resize(base + view.length + 1, kUnreached);
    size_t k = 0;
    for (size_t i = 0; i < view.length; ++i) {
      const float here = steps_[base + i].best;
      for (const size_t stop = k + view.nodes_at[i]; k < stop; ++k) {
        const float score = here + score_[view.piece[k]];
        Step& step = steps_[base + i + view.node_length[k]];
        if (!(score <= step.best)) {
          step.near = step.best >= score - tolerance(score);
          step.best = score;
          step.piece = view.piece[k];
          step.length = view.node_length[k];
        }
      }
    }
  }

  float score() const { return steps_.back().best; }

  // Calls function(piece) for the pieces of the best path, from the last to the first.
  template <typename Function>
  void for_each_backwards(Function function) {
    size_t at = steps_.size() - 1;
    float right = 0.0f;  // the score of the node on the right
    for (size_t v = views_.size(); v-- > 0;) {
      const LatticeView& view = views_[v];
      const size_t base = at - view.length;
      offsets_.clear();
      while (at > base) {
        Step step = steps_[at];
        if (step.near) first_equal(view, base, at, right, step);
        function(step.piece);
        right = score_[step.piece];
        at -= step.length;
      }
    }
  }

 private:
  struct Step {
    float best;
    uint32_t piece;
    uint16_t length;
    bool near;  // an earlier neighbour may come out equal
  };

  // No comparison with it holds, so whatever comes first takes its place, even an infinity.
  static constexpr Step kUnreached{std::numeric_limits<float>::quiet_NaN(), 0, 0, false};

  // Two sums with one more score can only round to the same float if they lie this close.
  float tolerance(float score) const { return 2.5e-7f * (std::fabs(score) + margin_); }

  void first_equal(const LatticeView& view, size_t base, size_t at, float right, Step& step) {
    if (offsets_.empty()) {
      offsets_.push_back(0);
      for (size_t i = 0; i < view.length; ++i) offsets_.push_back(offsets_[i] + view.nodes_at[i]);
    }
    const float best = step.best + right;
    const size_t end = at - base;
    for (size_t i = end > longest_ ? end - longest_ : 0; i < end; ++i) {
      for (size_t k = offsets_[i]; k < offsets_[i + 1]; ++k) {
        if (i + view.node_length[k] != end) continue;
        if ((steps_[base + i].best + score_[view.piece[k]]) + right == best) {
          step.piece = view.piece[k];
          step.length = view.node_length[k];
          return;
        }
      }
    }
  }

  const std::vector<float>& score_;
  size_t longest_;
  float margin_;
  std::vector<LatticeView> views_;
  std::vector<Step> steps_;
  std::vector<size_t> offsets_;
};

}  // namespace spmcompat
