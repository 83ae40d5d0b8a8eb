// The E-step: expected counts of the pieces over the lattices of all words.
//
// alpha and beta are kept per position, not per node: all nodes that begin at a position
// share their alpha, all that end at one their beta. Going forward, a node's term is added
// to the alpha of its end; terms arrive there by begin ascending, which is the order of the
// reference. Going backward, the terms of one position come shortest node first, likewise.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "best_path.hpp"
#include "lattice.hpp"
#include "log_math.hpp"
#include "word_counts.hpp"

namespace spmcompat {

// What one lane adds up. The unknown piece counts for the piece of id 0, as in the reference.
struct LaneSums {
  std::vector<float> expected;
  float objective = 0.0f;
  int64_t tokens = 0;

  // An empty sum takes the lane as it is.
  void add(const LaneSums& lane) {
    expected.resize(lane.expected.size());
    for (size_t i = 0; i < expected.size(); ++i) expected[i] += lane.expected[i];
    objective += lane.objective;
    tokens += lane.tokens;
  }
};

class WordPass {
 public:
  WordPass(const Lattices& lattices, const std::vector<float>& score)
      : lattices_(lattices), score_(score), unknown_(static_cast<uint32_t>(score.size() - 1)) {}

  // Returns the log likelihood of the word.
  float run(const uint32_t* segments, size_t count, float frequency, float* expected) {
    views_.clear();
    size_t length = 0;
    for (size_t i = 0; i < count; ++i) {
      views_.push_back(lattices_[segments[i]]);
      length += views_.back().length;
    }
    forward(length);
    backward(length);
    add_marginals(length, frequency, expected);
    return alpha_[length];
  }

 private:
  void forward(size_t length) {
    // log_sum_exp(-inf, x) is x, to the bit: an empty sum needs no case of its own.
    alpha_.assign(length + 1, -std::numeric_limits<float>::infinity());
    alpha_[0] = 0.0f;
    float* alpha = alpha_.data();
    for (const LatticeView& view : views_) {
      size_t k = 0;
      for (size_t i = 0; i < view.length; ++i) {
        for (const size_t stop = k + view.nodes_at[i]; k < stop; ++k) {
          float& end = alpha[i + view.node_length[k]];
          end = log_sum_exp(end, score_[view.piece[k]] + alpha[i]);
        }
      }
      alpha += view.length;
    }
  }

  void backward(size_t length) {
    beta_.resize(length + 1);
    beta_[length] = 0.0f;
    float* beta = beta_.data() + length;
    for (size_t v = views_.size(); v-- > 0;) {
      const LatticeView& view = views_[v];
      beta -= view.length;
      size_t k = 0;
      for (size_t i = 0; i < view.length; ++i) k += view.nodes_at[i];
      for (size_t i = view.length; i-- > 0;) {
        const size_t stop = k;
        k -= view.nodes_at[i];
        float sum = -std::numeric_limits<float>::infinity();
        for (size_t n = k; n < stop; ++n) {
          sum = log_sum_exp(sum, score_[view.piece[n]] + beta[i + view.node_length[n]]);
        }
        beta[i] = sum;
      }
    }
  }

  void add_marginals(size_t length, float frequency, float* expected) {
    const float z = alpha_[length];
    const float* alpha = alpha_.data();
    const float* beta = beta_.data();
    for (const LatticeView& view : views_) {
      size_t k = 0;
      for (size_t i = 0; i < view.length; ++i) {
        for (const size_t stop = k + view.nodes_at[i]; k < stop; ++k) {
          const uint32_t piece = view.piece[k];
          const float x = ((alpha[i] + score_[piece]) + beta[i + view.node_length[k]]) - z;
          float& sum = expected[piece == unknown_ ? 0 : piece];
          sum = static_cast<float>(sum + frequency * std::exp(static_cast<double>(x)));
        }
      }
      alpha += view.length;
      beta += view.length;
    }
  }

  const Lattices& lattices_;
  const std::vector<float>& score_;
  uint32_t unknown_;
  std::vector<LatticeView> views_;
  std::vector<float> alpha_, beta_;
};

// Sums the words lane, lane + lanes, lane + 2 lanes ... Stops early when *cancel is set.
inline void e_step_lane(const SegmentedCorpus& corpus, const Lattices& lattices,
                        const std::vector<float>& score, size_t lane, size_t lanes,
                        int64_t total_count, bool count_tokens, const volatile int* cancel,
                        LaneSums& sums) {
  sums.expected.assign(score.size() - 1, 0.0f);
  sums.objective = 0.0f;
  sums.tokens = 0;
  WordPass pass(lattices, score);
  BestPath best(score, lattices.longest());
  for (size_t word = lane; word < corpus.word_count.size() && !*cancel; word += lanes) {
    const uint32_t* segments = corpus.word_segments.data() + corpus.word_begin[word];
    const size_t count = corpus.word_begin[word + 1] - corpus.word_begin[word];
    const float frequency = static_cast<float>(corpus.word_count[word]);
    const float z = pass.run(segments, count, frequency, sums.expected.data());
    sums.objective -= frequency * z / total_count;
    if (!count_tokens) continue;
    best.begin();
    for (size_t i = 0; i < count; ++i) best.add(lattices[segments[i]]);
    int64_t tokens = 0;
    best.for_each_backwards([&](uint32_t) { ++tokens; });
    sums.tokens += tokens * corpus.word_count[word];
  }
}

// For pruning: how often each piece stands in the best paths of the lane's words.
inline void count_best_lane(const SegmentedCorpus& corpus, const Lattices& lattices,
                            const std::vector<float>& score, size_t lane, size_t lanes,
                            const volatile int* cancel, LaneSums& sums) {
  sums.expected.assign(score.size() - 1, 0.0f);
  const uint32_t unknown = static_cast<uint32_t>(score.size() - 1);
  BestPath best(score, lattices.longest());
  for (size_t word = lane; word < corpus.word_count.size() && !*cancel; word += lanes) {
    best.begin();
    for (uint64_t i = corpus.word_begin[word]; i < corpus.word_begin[word + 1]; ++i) {
      best.add(lattices[corpus.word_segments[i]]);
    }
    const float frequency = static_cast<float>(corpus.word_count[word]);
    best.for_each_backwards(
        [&](uint32_t piece) { sums.expected[piece == unknown ? 0 : piece] += frequency; });
  }
}

}  // namespace spmcompat
