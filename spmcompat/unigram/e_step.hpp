// The E-step: expected counts of the pieces over the lattices of all words.
//
// alpha and beta are kept per position, not per node: all nodes that begin at a position
// share their alpha, all that end at one their beta. Going forward, a node's term is added
// to the alpha of its end; terms arrive there by begin ascending, which is the order of the
// reference. Going backward, the terms of one position come shortest node first, likewise.
//
// The alphas of a word's first segment depend on nothing before it: they are computed once
// for all words that begin with the segment. A sum waits for the one before it, so several
// segments, or words, are walked in turns: the processor works on one while another waits.
// Only the order of additions to the expected counts matters; it is that of the words.
#pragma once

#include <algorithm>
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

constexpr size_t kStreams = 4;  // walked in turns

// Walks `count` streams, kStreams at a time, in turns. A stream is started by start(stream,
// number) and does a bit of its work at each step(), which returns false when it is done.
template <typename Stream, typename Start>
void walk_in_turns(size_t count, Start start) {
  Stream streams[kStreams];
  size_t active = 0, next = 0;
  while (active < kStreams && next < count) start(streams[active++], next++);
  while (active > 0) {
    for (size_t s = 0; s < active;) {
      if (streams[s].step()) {
        ++s;
      } else if (next < count) {
        start(streams[s++], next++);
      } else {
        streams[s] = streams[--active];
      }
    }
  }
}

// Goes forward through one segment; alpha[0] is known.
class ForwardStream {
 public:
  void start(const LatticeView& view, const float* score, float* alpha) {
    view_ = view;
    score_ = score;
    alpha_ = alpha;
    position_ = node_ = 0;
    // log_sum_exp(-inf, x) is x, to the bit: an empty sum needs no case of its own.
    std::fill_n(alpha + 1, view.length, -std::numeric_limits<float>::infinity());
  }
  bool step() {
    const float here = alpha_[position_];
    for (const size_t stop = node_ + view_.nodes_at[position_]; node_ < stop; ++node_) {
      float& end = alpha_[position_ + view_.node_length[node_]];
      end = log_sum_exp(end, score_[view_.piece[node_]] + here);
    }
    return ++position_ < view_.length;
  }

 private:
  LatticeView view_;
  const float* score_;
  float* alpha_;
  size_t position_, node_;
};

// Goes backward through the segments of one word; beta at its end is known.
class BackwardStream {
 public:
  void start(const LatticeView* first, const LatticeView* last, const float* score, float* end) {
    first_ = first;
    view_ = last;
    score_ = score;
    beta_ = end;
    position_ = 0;
    previous_view();
  }
  bool step() {
    const size_t stop = node_;
    node_ -= view_->nodes_at[--position_];
    float sum = -std::numeric_limits<float>::infinity();
    for (size_t n = node_; n < stop; ++n) {
      sum = log_sum_exp(sum, score_[view_->piece[n]] + beta_[position_ + view_->node_length[n]]);
    }
    beta_[position_] = sum;
    if (position_ > 0) return true;
    if (view_ == first_) return false;
    previous_view();
    return true;
  }

 private:
  void previous_view() {
    --view_;
    position_ = view_->length;
    node_ = view_->nodes;
    beta_ -= view_->length;
  }

  const LatticeView* first_;
  const LatticeView* view_;
  const float* score_;
  float* beta_;
  size_t position_, node_;
};

// Fills the values of a block with the alphas of segments that stand at the begin of a word.
inline void forward_block(LatticeBlock& block, const std::vector<uint32_t>& segments,
                          const std::vector<float>& score) {
  block.make_room();
  walk_in_turns<ForwardStream>(segments.size(), [&](ForwardStream& stream, size_t i) {
    float* alpha = block.values(segments[i]);
    alpha[0] = 0.0f;
    stream.start(block[segments[i]], score.data(), alpha);
  });
}

// Expected counts from words, a batch at a time.
class WordPass {
 public:
  WordPass(const Lattices& lattices, const std::vector<float>& score)
      : lattices_(lattices), score_(score), unknown_(static_cast<uint32_t>(score.size() - 1)) {}

  bool full() const {
    return words_.size() >= kMaxWords || (words_.size() >= kStreams && alpha_.size() > kMaxLength);
  }

  void add(const uint32_t* segments, size_t count, float frequency) {
    Word word{views_.size(), 0, alpha_.size(), 0, frequency};
    for (size_t i = 0; i < count; ++i) {
      views_.push_back(lattices_[segments[i]]);
      word.length += views_.back().length;
    }
    word.last_view = views_.size();
    alpha_.resize(word.begin + word.length + 1);
    float* alpha = alpha_.data() + word.begin;
    std::copy_n(lattices_.values(segments[0]), views_[word.first_view].length + 1, alpha);
    for (size_t v = word.first_view + 1; v < word.last_view; ++v) {
      alpha += views_[v - 1].length;
      ForwardStream stream;
      stream.start(views_[v], score_.data(), alpha);
      while (stream.step()) {
      }
    }
    words_.push_back(word);
  }

  // Adds the expected counts of the batch, calls function(frequency, log likelihood) for each
  // word, and begins a new batch.
  template <typename Function>
  void finish(float* expected, Function function) {
    beta_.resize(alpha_.size());
    walk_in_turns<BackwardStream>(words_.size(), [&](BackwardStream& stream, size_t i) {
      const Word& word = words_[i];
      float* end = beta_.data() + word.begin + word.length;
      *end = 0.0f;
      stream.start(views_.data() + word.first_view, views_.data() + word.last_view, score_.data(),
                   end);
    });
    for (const Word& word : words_) {
      add_marginals(word, expected);
      function(word.frequency, alpha_[word.begin + word.length]);
    }
    words_.clear();
    views_.clear();
    alpha_.clear();
  }

 private:
  static constexpr size_t kMaxWords = 64;
  static constexpr size_t kMaxLength = 4096;  // of all words together, in characters

  struct Word {
    size_t first_view, last_view;
    size_t begin;  // of its alphas and betas
    size_t length;
    float frequency;
  };

  void add_marginals(const Word& word, float* expected) const {
    const float* alpha = alpha_.data() + word.begin;
    const float* beta = beta_.data() + word.begin;
    const float z = alpha[word.length];
    for (size_t v = word.first_view; v < word.last_view; ++v) {
      const LatticeView& view = views_[v];
      size_t k = 0;
      for (size_t i = 0; i < view.length; ++i) {
        for (const size_t stop = k + view.nodes_at[i]; k < stop; ++k) {
          const uint32_t piece = view.piece[k];
          const float x = ((alpha[i] + score_[piece]) + beta[i + view.node_length[k]]) - z;
          float& sum = expected[piece == unknown_ ? 0 : piece];
          sum = add_exp(sum, word.frequency, x);
        }
      }
      alpha += view.length;
      beta += view.length;
    }
  }

  const Lattices& lattices_;
  const std::vector<float>& score_;
  uint32_t unknown_;
  std::vector<Word> words_;
  std::vector<LatticeView> views_;
  std::vector<float> alpha_, beta_;
};

// The segments that stand at the begin of a word, by block of the lattices.
inline std::vector<std::vector<uint32_t>> first_segments(const SegmentedCorpus& corpus,
                                                         size_t blocks) {
  std::vector<bool> seen(corpus.segments.size(), false);
  std::vector<std::vector<uint32_t>> result(blocks);
  for (size_t word = 0; word < corpus.word_count.size(); ++word) {
    seen[corpus.word_segments[corpus.word_begin[word]]] = true;
  }
  for (size_t segment = 0; segment < seen.size(); ++segment) {
    if (!seen[segment]) continue;
    result[segment / Lattices::kBlockSize].push_back(segment % Lattices::kBlockSize);
  }
  return result;
}

inline int64_t count_tokens(const SegmentedCorpus& corpus, const Lattices& lattices, size_t word,
                            BestPath& best) {
  best.begin();
  for (uint64_t i = corpus.word_begin[word]; i < corpus.word_begin[word + 1]; ++i) {
    best.add(lattices[corpus.word_segments[i]]);
  }
  int64_t tokens = 0;
  best.for_each_backwards([&](uint32_t) { ++tokens; });
  return tokens * corpus.word_count[word];
}

// Sums the words lane, lane + lanes, lane + 2 lanes ... Stops early when *cancel is set.
// forward_block must have been called for every block.
inline void e_step_lane(const SegmentedCorpus& corpus, const Lattices& lattices,
                        const std::vector<float>& score, size_t lane, size_t lanes,
                        int64_t total_count, bool with_tokens, const volatile int* cancel,
                        LaneSums& sums) {
  sums.expected.assign(score.size() - 1, 0.0f);
  sums.objective = 0.0f;
  sums.tokens = 0;
  WordPass pass(lattices, score);
  BestPath best(score, lattices.longest());
  const auto finish = [&] {
    pass.finish(sums.expected.data(), [&](float frequency, float z) {
      sums.objective -= frequency * z / total_count;
    });
  };
  for (size_t word = lane; word < corpus.word_count.size() && !*cancel; word += lanes) {
    const uint64_t begin = corpus.word_begin[word];
    pass.add(corpus.word_segments.data() + begin, corpus.word_begin[word + 1] - begin,
             static_cast<float>(corpus.word_count[word]));
    if (pass.full()) finish();
    if (with_tokens) sums.tokens += count_tokens(corpus, lattices, word, best);
  }
  finish();
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
