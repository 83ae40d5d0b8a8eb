// The E-step: expected counts of the pieces over the lattices of all words.
//
// The alphas of a word's first segment depend on nothing before it: where several words begin
// with the segment, they are computed once. Only the order of additions to the expected counts
// matters; it is that of the words.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "spmcompat/unigram/lattice/batch.hpp"
#include "spmcompat/unigram/lattice/best_path.hpp"
#include "spmcompat/unigram/em/lanes.hpp"
#include "spmcompat/unigram/lattice/lattice.hpp"
#include "spmcompat/unigram/lattice/processors.hpp"
#include "spmcompat/unigram/lattice/sums.hpp"
#include "spmcompat/counting/pretoken_counts.hpp"

namespace spmcompat {

constexpr float kEmptySum = -std::numeric_limits<float>::infinity();
constexpr float kNoOne = -1.0f;  // of the sums before a track

// So many nodes more than there are may be looked at.
constexpr size_t kSpareNodes = 3;

// A sum that may come to no number, and from there to any, as in the reference: seeds from a file
// may have a score of -inf.
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

// Fills the values of a block with the alphas of segments that stand at the begin of words.
inline void forward_block(LatticeBlock& block, const std::vector<uint32_t>& segments,
                          const PieceChains& chains, const Arithmetic& arithmetic) {
  float* alphas = block.make_room(segments);
  alphas[0] = kNoOne;
  std::vector<uint32_t> tops, nodes;
  std::vector<Track> tracks;
  Follower<Forward> follower(arithmetic.avx2);
  for (size_t first = 0, last = 0; first < segments.size(); first = last) {
    const size_t base = block.values_begin(segments[first]) - 1;
    size_t end = 0;
    tracks.clear();
    while (last < segments.size() && end < kManyPositions) {
      const LatticeView view = block[segments[last]];
      const size_t begin = block.values_begin(segments[last++]) - base;
      end = begin + view.length + 1;
      copy_tops(view, chains, room(tops, end) + begin);
      tracks.push_back({nullptr, 0, begin, view.length});
    }
    size_t size = 0;
    for (Track& track : tracks) {
      track.size = count_nodes(chains, tops.data() + track.begin, track.length);
      size += track.size;
      float* alpha = alphas + base + track.begin;
      std::fill_n(alpha, track.length + 1, kEmptySum);
      alpha[0] = 0.0f;
    }
    uint32_t* to = room(nodes, size);
    for (Track& track : tracks) track.nodes = std::exchange(to, to + track.size);
    follower.follow(tracks, arithmetic.sums(chains, tops.data(), alphas + base));
  }
}

// Expected counts from words, a batch at a time.
class WordPass {
 public:
  WordPass(const Lattices& lattices, const Arithmetic& arithmetic)
      : lattices_(lattices),
        chains_(lattices.chains()),
        arithmetic_(arithmetic),
        list_(arithmetic.avx2),
        forward_(arithmetic.avx2),
        backward_(arithmetic.avx2) {
    clear();
  }

  bool full() const {
    return words_.size() >= kMaxWords ||
           (words_.size() >= kMinWords && positions_ > kManyPositions);
  }

  // A word of no segments, a sentence that normalized to nothing, adds nothing.
  void add(const uint32_t* segments, size_t count, float frequency) {
    if (count == 0) return;
    Word word{};
    word.begin = positions_;
    word.frequency = frequency;
    word.alphas = lattices_.values(segments[0]);
    __builtin_prefetch(word.alphas);
    for (size_t i = 0; i < count; ++i) {
      const LatticeView view = lattices_[segments[i]];
      const size_t begin = word.begin + word.length;
      copy_tops(view, chains_, room(tops_, begin + view.length + 2) + begin);
      word.length += view.length;
      if (i == 0 && word.alphas != nullptr) word.known = word.length;
    }
    positions_ += word.length + 2;
    words_.push_back(word);
  }

  // Finds the share that each node has in its word.
  void find_shares() {
    prepare();
    if (chains_.finite()) {
      list(true);
      go_forward();
      go_backward();
    } else {
      list(false);
      room(x_, size_ + kSpareNodes);
      for (const Word& word : words_) go_plainly(word);
    }
  }
  // Adds them to the counts of the pieces.
  void add_shares(float* expected) {
    for (const Word& word : words_) add_shares(word, expected);
  }

  void find_likelihoods() {
    prepare();
    go_forward();
  }
  // Calls function(frequency, log likelihood) for each word, after either search.
  template <typename Function>
  void for_each_likelihood(Function function) const {
    for (const Word& word : words_) function(word.frequency, alpha_[word.begin + word.length]);
  }

  void clear() {
    words_.clear();
    positions_ = 1;
  }

 private:
  static constexpr size_t kMaxWords = 512;
  static constexpr size_t kMinWords = Backward::kWidth;

  struct Word {
    size_t begin;         // of its tops, alphas and betas
    size_t length;        // in characters
    size_t known;         // positions of the first segment, if their alphas are known
    const float* alphas;  // those
    float frequency;
    size_t node, size;  // all nodes
    size_t known_size;  // nodes at the positions whose alphas are known
  };

  // Counts the nodes, and puts down the alphas to start from.
  void prepare() {
    size_ = 0;
    alpha_.assign(positions_, kEmptySum);
    alpha_[0] = kNoOne;
    for (Word& word : words_) {
      const uint32_t* tops = tops_.data() + word.begin;
      word.node = size_;
      word.known_size = count_nodes(chains_, tops, word.known);
      word.size = word.known_size +
                  count_nodes(chains_, tops + word.known, word.length - word.known);
      size_ += word.size;
      float* alpha = alpha_.data() + word.begin;
      alpha[0] = 0.0f;
      if (word.known > 0) std::copy_n(word.alphas, word.known + 1, alpha);
      alpha[word.length + 1] = kNoOne;
    }
    room(nodes_, size_ + kNodesAhead);
  }

  // Writes down the nodes that the way forward does not pass, or all.
  void list(bool only_known) {
    tracks_.clear();
    for (const Word& word : words_) {
      const size_t size = only_known ? word.known_size : word.size;
      if (size > 0) tracks_.push_back(track(word, 0, size));
    }
    list_.follow(tracks_, arithmetic_.sums(chains_, tops_.data()));
  }

  void go_forward() {
    tracks_.clear();
    for (const Word& word : words_) {
      if (word.size == word.known_size) continue;
      tracks_.push_back(track(word, word.known_size, word.size - word.known_size));
      tracks_.back().begin += word.known;
    }
    forward_.follow(tracks_, arithmetic_.sums(chains_, tops_.data(), alpha_.data()));
  }

  void go_backward() {
    beta_.assign(alpha_.size(), kEmptySum);
    tracks_.clear();
    size_t longest = 0;
    for (const Word& word : words_) {
      const size_t end = word.begin + word.length;
      beta_[end] = 0.0f;
      beta_[end + 1] = kNoOne;
      tracks_.push_back(track(word, 0, word.size));
      tracks_.back().z = alpha_[end];
      longest = std::max(longest, word.size);
    }
    beta_[0] = kNoOne;
    room(x_, size_ + longest + kSpareNodes);
    backward_.follow(tracks_, arithmetic_.sums(chains_, tops_.data(), alpha_.data(), beta_.data(),
                                               x_.data(), size_));
  }

  Track track(const Word& word, size_t first, size_t size) {
    return {nodes_.data() + word.node + first, static_cast<uint32_t>(size), word.begin,
            word.length, word.node};
  }

  // The same for one word, one node after the other.
  void go_plainly(const Word& word) {
    const uint32_t* nodes = nodes_.data() + word.node;
    std::vector<PlainSum> alpha(word.length + 1), beta(word.length + 1);
    alpha[0].add(0.0f, arithmetic_.log_sum_exp);
    beta[word.length].add(0.0f, arithmetic_.log_sum_exp);
    size_t end = 0;  // of the positions that were looked at
    for (size_t k = 0; k < word.size; ++k) {
      end += is_first(nodes[k]);
      const ChainNode& piece = chains_[piece_of(nodes[k])];
      alpha[end - 1 + piece.length].add(piece.score + alpha[end - 1].value(),
                                        arithmetic_.log_sum_exp);
    }
    const float z = alpha[word.length].value();
    alpha_[word.begin + word.length] = z;
    for (size_t k = word.size; k-- > 0;) {
      const ChainNode& piece = chains_[piece_of(nodes[k])];
      const float after = beta[end - 1 + piece.length].value();
      x_[word.node + k] = ((alpha[end - 1].value() + piece.score) + after) - z;
      beta[end - 1].add(piece.score + after, arithmetic_.log_sum_exp);
      end -= is_first(nodes[k]);
    }
  }

  void add_shares(const Word& word, float* expected) {
    const float* x = x_.data() + word.node;
    const uint32_t* nodes = nodes_.data() + word.node;
    double* terms = room(terms_, word.size + kSpareNodes);
    const uint32_t unknown = chains_.unknown();
    if (arithmetic_.avx2) {
      avx2::to_terms(x, word.size, word.frequency, terms);
      avx2::add_shares(nodes, word.size, x, terms, word.frequency, unknown, expected);
    } else {
      any_processor::to_terms(x, word.size, word.frequency, terms);
      any_processor::add_shares(nodes, word.size, x, terms, word.frequency, unknown, expected);
    }
  }

  const Lattices& lattices_;
  const PieceChains& chains_;
  const Arithmetic& arithmetic_;
  std::vector<Word> words_;
  size_t positions_ = 0;         // of all words, and what stands between
  size_t size_ = 0;              // nodes of all words
  std::vector<uint32_t> tops_;   // the first node of each position, with its mark
  std::vector<uint32_t> nodes_;  // of all words, as they were passed going forward
  std::vector<float> alpha_, beta_, x_;
  std::vector<double> terms_;
  std::vector<Track> tracks_;
  Follower<Listing> list_;
  Follower<Forward> forward_;
  Follower<Backward> backward_;
};

// The segments that stand at the begin of several words, by block of the lattices.
inline std::vector<std::vector<uint32_t>> first_segments(const SegmentedCorpus& corpus,
                                                         size_t blocks) {
  std::vector<bool> seen(corpus.segments.size(), false), again(corpus.segments.size(), false);
  std::vector<std::vector<uint32_t>> result(blocks);
  for (size_t word = 0; word < corpus.word_count.size(); ++word) {
    if (corpus.word_begin[word] == corpus.word_begin[word + 1]) continue;
    const uint32_t segment = corpus.word_segments[corpus.word_begin[word]];
    again[segment] = seen[segment];
    seen[segment] = true;
  }
  for (size_t segment = 0; segment < again.size(); ++segment) {
    if (!again[segment]) continue;
    result[segment / Lattices::kBlockSize].push_back(segment % Lattices::kBlockSize);
  }
  return result;
}

// The expected counts of all lanes, and the objective; the work of one worker. forward_block must
// have been called for every block.
inline void add_expected_counts(Lanes& lanes, const Lattices& lattices,
                                const Arithmetic& arithmetic, int64_t total_count) {
  WordPass pass(lattices, arithmetic);
  lanes.work(pass, &WordPass::find_shares, [&](LaneSums& sums) {
    sums.expected.resize(lattices.chains().pieces());
    pass.add_shares(sums.expected.data());
    pass.for_each_likelihood(
        [&](float frequency, float z) { sums.objective -= frequency * z / total_count; });
  });
}

// The log likelihood of all lanes, in double; the work of one worker.
inline void add_log_likelihoods(Lanes& lanes, const Lattices& lattices,
                                const Arithmetic& arithmetic) {
  WordPass pass(lattices, arithmetic);
  lanes.work(pass, &WordPass::find_likelihoods, [&](LaneSums& sums) {
    pass.for_each_likelihood(
        [&](float frequency, float z) { sums.log_likelihood += double(frequency) * z; });
  });
}

// For pruning: how often each piece stands in the best paths of the words, and where; the work of
// one worker.
inline void add_best_paths(Lanes& lanes, const Lattices& lattices, const Arithmetic& arithmetic) {
  const PieceChains& chains = lattices.chains();
  BestPaths paths(lattices, arithmetic);
  lanes.work(paths, &BestPaths::find, [&](LaneSums& sums) {
    sums.expected.resize(chains.pieces());
    sums.places.resize(chains.pieces());
    for (size_t word = 0; word < paths.size(); ++word) {
      paths.fetch_last(word + 8);
      const float frequency = paths.frequency(word);
      paths.for_each_backwards(word, [&](uint32_t piece, const NodePlace& place) {
        if (chains.is_unknown(piece)) {
          sums.expected[0] += frequency;
          return;
        }
        sums.expected[piece] += frequency;
        if (!sums.places[piece].known()) sums.places[piece] = place;
      });
    }
  });
}

// How many words there are, added up in float as the lanes do it.
inline float sum_word_counts(const SegmentedCorpus& corpus, size_t lanes) {
  float total = 0.0f;
  for (size_t lane = 0; lane < lanes; ++lane) {
    float sum = 0.0f;
    for (size_t word = lane; word < corpus.word_count.size(); word += lanes) {
      sum += static_cast<float>(corpus.word_count[word]);
    }
    total += sum;
  }
  return total;
}

}  // namespace spmcompat
