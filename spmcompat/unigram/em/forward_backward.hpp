// The forward-backward algorithm over pretokens: the marginal of every node, and its contribution
// to the expected counts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/segments/segmented_corpus.hpp"
#include "spmcompat/unigram/lattice/lanes.hpp"
#include "spmcompat/unigram/lattice/lattice.hpp"
#include "spmcompat/unigram/lattice/log_math.hpp"
#include "spmcompat/unigram/lattice/passes.hpp"
#include "spmcompat/unigram/lattice/prefix_links.hpp"
#include "spmcompat/unigram/lattice/processors.hpp"

namespace spmcompat {

constexpr float kEmptySum = -std::numeric_limits<float>::infinity();
// The value of the scratch slots. It is finite, so that idle lanes do not take a slow path.
constexpr float kGuard = -1.0f;

// Padding: the SIMD loops read and write up to 3 nodes past the end.
constexpr size_t kNodePadding = 3;

// A log-sum-exp of any number of terms. It accepts -inf and NaN, as the reference does, because
// seeds from a file may have the score -inf.
class PlainSum {
 public:
  void add(float term, LogSumExp log_sum_exp) {
    value_ = empty_ ? term : log_sum_exp(value_, term);
    empty_ = false;
  }
  float value() const { return value_; }

 private:
  float value_ = 0.0f;
  bool empty_ = true;
};

// Processes groups of pretokens one after another, in these steps:
//   1. Call add until the group is full.
//   2. Call find_marginals, or find_likelihoods if only the likelihoods are needed.
//   3. Call add_marginals, which adds to the expected counts, and for_each_likelihood.
//   4. Call clear.
class ForwardBackward {
 public:
  ForwardBackward(const Lattices& lattices, const Crew& crew)
      : lattices_(lattices),
        links_(lattices.links()),
        arithmetic_(lattices.arithmetic()),
        forward_(arithmetic_, crew),
        backward_(arithmetic_, crew) {
    clear();
  }

  bool full() const {
    return pretokens_.size() >= kMaxPretokens ||
           (pretokens_.size() >= kMinPretokens && positions_ > kGroupPositions);
  }

  // A pretoken without segments is a sentence that is empty after normalization. It is ignored.
  void add(const uint32_t* segments, size_t count, float frequency) {
    if (count == 0) return;
    Pretoken pretoken{};
    pretoken.begin = positions_;
    pretoken.frequency = frequency;
    for (size_t i = 0; i < count; ++i) {
      const LatticeView view = lattices_[segments[i]];
      const size_t begin = pretoken.begin + pretoken.length;
      copy_first_nodes(view, links_, grow(first_nodes_, begin + view.length + 2) + begin);
      pretoken.length += view.length;
    }
    positions_ += pretoken.length + 2;
    pretokens_.push_back(pretoken);
  }

  // Finds the marginal of each node: its share of the pretoken's probability.
  void find_marginals() {
    prepare();
    if (links_.finite()) {
      run_forward();
      run_backward();
    } else {
      grow(log_marginal_, size_ + kNodePadding);
      for (const Pretoken& pretoken : pretokens_) run_plainly(pretoken);
    }
  }
  void add_marginals(float* expected) {
    for (const Pretoken& pretoken : pretokens_) add_marginals(pretoken, expected);
  }

  void find_likelihoods() {
    prepare();
    run_forward();
  }
  // Calls function(frequency, log likelihood) for each pretoken.
  template <typename Function>
  void for_each_likelihood(Function function) const {
    for (const Pretoken& pretoken : pretokens_) {
      function(pretoken.frequency, alpha_[pretoken.begin + pretoken.length]);
    }
  }

  void clear() {
    pretokens_.clear();
    positions_ = 1;
  }

 private:
  static constexpr size_t kMaxPretokens = 512;
  static constexpr size_t kMinPretokens = BackwardPass::kWidth;

  struct Pretoken {
    size_t begin;   // the first position
    size_t length;  // the number of characters
    float frequency;
    size_t first_node, size;  // the index of the first node in nodes_, and the number of nodes
  };

  // Counts the nodes of each pretoken.
  void prepare() {
    size_ = 0;
    alpha_.assign(positions_, kEmptySum);
    alpha_[0] = kGuard;
    for (Pretoken& pretoken : pretokens_) {
      pretoken.first_node = size_;
      pretoken.size = count_nodes(links_, first_nodes_.data() + pretoken.begin, pretoken.length);
      size_ += pretoken.size;
      alpha_[pretoken.begin] = 0.0f;
      alpha_[pretoken.begin + pretoken.length + 1] = kGuard;
    }
    grow(nodes_, size_ + kNodesAhead);
  }

  void run_forward() {
    lists_.clear();
    for (const Pretoken& pretoken : pretokens_) lists_.push_back(nodes_of(pretoken));
    forward_.run(lists_, arithmetic_.arrays(links_, first_nodes_.data(), alpha_.data()));
  }

  void run_backward() {
    beta_.assign(alpha_.size(), kEmptySum);
    lists_.clear();
    size_t largest = 0;
    for (const Pretoken& pretoken : pretokens_) {
      const size_t end = pretoken.begin + pretoken.length;
      beta_[end] = 0.0f;
      beta_[end + 1] = kGuard;
      lists_.push_back(nodes_of(pretoken));
      lists_.back().log_likelihood = alpha_[end];
      largest = std::max(largest, pretoken.size);
    }
    beta_[0] = kGuard;
    grow(log_marginal_, size_ + largest + kNodePadding);
    backward_.run(lists_, arithmetic_.arrays(links_, first_nodes_.data(), alpha_.data(),
                                             beta_.data(), log_marginal_.data(), size_));
  }

  NodeList nodes_of(const Pretoken& pretoken) {
    return {nodes_.data() + pretoken.first_node, static_cast<uint32_t>(pretoken.size),
            pretoken.begin, pretoken.length, pretoken.first_node};
  }

  // Runs the forward and the backward pass over one pretoken, node by node. Used if a piece has a
  // score that is not finite.
  void run_plainly(const Pretoken& pretoken) {
    uint32_t* const nodes = nodes_.data() + pretoken.first_node;
    list_nodes(pretoken, nodes);
    const LogSumExp log_sum_exp = arithmetic_.log_sum_exp;
    std::vector<PlainSum> alpha(pretoken.length + 1), beta(pretoken.length + 1);
    alpha[0].add(0.0f, log_sum_exp);
    beta[pretoken.length].add(0.0f, log_sum_exp);
    size_t positions = 0;  // the number of positions whose first node was already visited
    for (size_t k = 0; k < pretoken.size; ++k) {
      positions += is_first(nodes[k]);
      const size_t begin = positions - 1;
      const LinkedPiece& piece = links_[piece_of(nodes[k])];
      alpha[begin + piece.length].add(piece.score + alpha[begin].value(), log_sum_exp);
    }
    const float log_likelihood = alpha[pretoken.length].value();
    alpha_[pretoken.begin + pretoken.length] = log_likelihood;
    for (size_t k = pretoken.size; k-- > 0;) {
      const size_t begin = positions - 1;
      const LinkedPiece& piece = links_[piece_of(nodes[k])];
      const float after = beta[begin + piece.length].value();
      log_marginal_[pretoken.first_node + k] =
          ((alpha[begin].value() + piece.score) + after) - log_likelihood;
      beta[begin].add(piece.score + after, log_sum_exp);
      positions -= is_first(nodes[k]);
    }
  }

  // Lists the nodes as the forward pass does.
  void list_nodes(const Pretoken& pretoken, uint32_t* nodes) const {
    for (size_t i = 0; i < pretoken.length; ++i) {
      uint32_t flag = kFirstAtPosition;
      links_.for_each(
          piece_of(first_nodes_[pretoken.begin + i]),
          [&](uint32_t id, const LinkedPiece&) { *nodes++ = id | std::exchange(flag, 0); });
    }
  }

  void add_marginals(const Pretoken& pretoken, float* expected) {
    const float* log_marginal = log_marginal_.data() + pretoken.first_node;
    const uint32_t* nodes = nodes_.data() + pretoken.first_node;
    const size_t size = pretoken.size;
    const float frequency = pretoken.frequency;
    const uint32_t unknown = links_.unknown();
    double* terms = grow(terms_, size + kNodePadding);
    if (arithmetic_.avx2) {
      avx2::to_terms(log_marginal, size, frequency, terms);
      avx2::add_marginals(nodes, size, log_marginal, terms, frequency, unknown, expected);
    } else {
      any_processor::to_terms(log_marginal, size, frequency, terms);
      any_processor::add_marginals(nodes, size, log_marginal, terms, frequency, unknown, expected);
    }
  }

  const Lattices& lattices_;
  const PrefixLinks& links_;
  const Arithmetic& arithmetic_;
  std::vector<Pretoken> pretokens_;
  size_t positions_ = 0;               // the number of positions, including the scratch slots
  size_t size_ = 0;                    // the number of nodes
  std::vector<uint32_t> first_nodes_;  // the first node of every position
  std::vector<uint32_t> nodes_;        // the nodes of all pretokens, one pretoken after another
  std::vector<float> alpha_, beta_, log_marginal_;
  std::vector<double> terms_;
  std::vector<NodeList> lists_;
  LaneRunner<ForwardPass> forward_;
  LaneRunner<BackwardPass> backward_;
};

}  // namespace spmcompat
