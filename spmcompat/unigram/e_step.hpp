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
#include <vector>

#include "best_path.hpp"
#include "lattice.hpp"
#include "processors.hpp"
#include "sums.hpp"
#include "word_counts.hpp"

namespace spmcompat {

// So many are worth a batch.
constexpr size_t kManyNodes = 1 << 16;

constexpr float kEmptySum = -std::numeric_limits<float>::infinity();

// The pieces as the lattices see them, and how sums of them are computed.
struct Scores {
  std::vector<NodePiece> pieces;
  bool avx2 = has_avx2();
  LogSumExp log_sum_exp = exact_log_sum_exp(true);

  void set(const Pieces& all) { pieces = node_pieces(all); }

  uint32_t size() const { return static_cast<uint32_t>(pieces.size() - 2); }
  uint32_t unknown() const { return size(); }
  uint32_t no_op() const { return size() + 1; }
  uint32_t longest() const {
    uint32_t longest = 1;
    for (const NodePiece& piece : pieces) longest = std::max(longest, piece.length);
    return longest;
  }
  Sums sums(float* alpha, float* beta = nullptr, float* x = nullptr, size_t unused_x = 0) const {
    return {pieces.data(), no_op(), log_sum_exp, alpha, beta, x, unused_x};
  }
};

// So many nodes more than there are may be looked at.
constexpr size_t kSpareNodes = 3;

// What one lane adds up. The unknown piece counts for the piece of id 0, as in the reference.
struct LaneSums {
  std::vector<float> expected;
  std::vector<NodePlace> places;  // of each piece any, where the pass looks for them
  float objective = 0.0f;

  // An empty sum takes the lane as it is.
  void add(const LaneSums& lane) {
    expected.resize(lane.expected.size());
    for (size_t i = 0; i < expected.size(); ++i) expected[i] += lane.expected[i];
    places.resize(lane.places.size());
    for (size_t i = 0; i < places.size(); ++i) {
      if (!places[i].known()) places[i] = lane.places[i];
    }
    objective += lane.objective;
  }
};

// Fills the values of a block with the alphas of segments that stand at the begin of words.
inline void forward_block(LatticeBlock& block, const std::vector<uint32_t>& segments,
                          const PieceChains& chains, const Scores& scores) {
  float* alphas = block.make_room(segments);
  NodeList nodes;
  std::vector<Track> tracks;
  Follower<Forward> follower(scores.avx2);
  for (size_t first = 0, last = 0; first < segments.size();) {
    nodes.clear();
    tracks.clear();
    while (last < segments.size() && nodes.size() < kManyNodes) {
      nodes.add(block[segments[last++]], chains);
    }
    for (const uint32_t* at = nodes.data(); first < last; ++first) {
      const LatticeView view = block[segments[first]];
      tracks.push_back({at, view.size, block.values_begin(segments[first]), view.length});
      float* alpha = alphas + tracks.back().begin;
      std::fill_n(alpha, view.length + 1, kEmptySum);
      alpha[0] = 0.0f;
      at += view.size;
    }
    follower.follow(tracks, scores.sums(alphas));
  }
}

// Expected counts from words, a batch at a time.
class WordPass {
 public:
  WordPass(const Lattices& lattices, const Scores& scores)
      : lattices_(lattices), scores_(scores), forward_(scores.avx2), backward_(scores.avx2) {
    clear();
  }

  bool full() const {
    return words_.size() >= kMaxWords || (words_.size() >= kMinWords && nodes_.size() > kManyNodes);
  }

  // A word of no segments, a sentence that normalized to nothing, adds nothing.
  void add(const uint32_t* segments, size_t count, float frequency) {
    if (count == 0) return;
    Word word{nodes_.size(), 0, 0, alpha_.size(), 0, 0, frequency};
    for (size_t i = count; i-- > 0;) {
      const LatticeView view = lattices_[segments[i]];
      word.later = word.size;
      word.size += view.size;
      word.length += view.length;
      nodes_.add(view, lattices_.chains());
    }
    alpha_.resize(word.begin + word.length + 1, kEmptySum);
    alpha_.push_back(kNoOne);
    alpha_[word.begin] = 0.0f;
    if (const float* alphas = lattices_.values(segments[0])) {
      word.known = lattices_[segments[0]].length;
      std::copy_n(alphas, word.known + 1, alpha_.data() + word.begin);
    } else {
      word.later = word.size;
    }
    words_.push_back(word);
  }

  // Adds the expected counts of the batch, calls function(frequency, log likelihood) for each
  // word, and begins a new batch.
  template <typename Function>
  void finish(float* expected, Function function) {
    go_forward();
    go_backward();
    for (const Word& word : words_) add_shares(word, expected);
    end_batch(function);
  }

  // The same without the counts.
  template <typename Function>
  void finish(Function function) {
    go_forward();
    end_batch(function);
  }

 private:
  static constexpr size_t kMaxWords = 512;
  static constexpr size_t kMinWords = Backward::kWidth;
  static constexpr float kNoOne = -1.0f;  // of the sums before a word

  struct Word {
    size_t node, size;    // all nodes
    size_t later;         // number of those behind the positions whose alphas are known
    size_t begin;         // of its alphas and betas
    size_t length;        // in characters
    size_t known;         // positions of the first segment, if their alphas are known
    float frequency;
  };

  void clear() {
    words_.clear();
    nodes_.clear();
    alpha_.assign(1, kNoOne);
  }

  template <typename Function>
  void end_batch(Function function) {
    for (const Word& word : words_) function(word.frequency, alpha_[word.begin + word.length]);
    clear();
  }

  void go_forward() {
    tracks_.clear();
    for (const Word& word : words_) {
      if (word.later == 0) continue;
      tracks_.push_back({nodes_.data() + word.node, static_cast<uint32_t>(word.later),
                         word.begin + word.known, word.length - word.known});
    }
    forward_.follow(tracks_, scores_.sums(alpha_.data()));
  }

  void go_backward() {
    beta_.assign(alpha_.size(), kEmptySum);
    tracks_.clear();
    size_t longest = 0;
    for (const Word& word : words_) {
      const size_t end = word.begin + word.length;
      beta_[end] = 0.0f;
      beta_[end + 1] = kNoOne;
      tracks_.push_back({nodes_.data() + word.node, static_cast<uint32_t>(word.size), word.begin,
                         word.length, word.node, alpha_[end]});
      longest = std::max(longest, word.size);
    }
    beta_[0] = kNoOne;
    x_.resize(nodes_.size() + longest + kSpareNodes);
    backward_.follow(
        tracks_, scores_.sums(alpha_.data(), beta_.data(), x_.data(), nodes_.size()));
  }

  void add_shares(const Word& word, float* expected) {
    const float* x = x_.data() + word.node;
    const uint32_t* nodes = nodes_.data() + word.node;
    terms_.resize(word.size + kSpareNodes);
    double* terms = terms_.data();
    (scores_.avx2 ? avx2::to_terms : any_processor::to_terms)(x, word.size, word.frequency, terms);
    const auto add = [&](size_t k, uint32_t piece) {
      expected[piece] = any_processor::add_exp(expected[piece], terms[k], word.frequency, x[k]);
    };
    const uint32_t unknown = scores_.unknown();
    for (size_t k = word.size; k-- > 0;) {
      const uint32_t piece = piece_of(nodes[k]);
      if (piece != unknown) {
        add(k, piece);
        continue;
      }
      // It counts for the piece of id 0, which may begin here too and then comes before.
      size_t first = k;
      while (first > 0 && !is_last(nodes[first - 1])) --first;
      for (size_t i = first; i < k; ++i) add(i, piece_of(nodes[i]));
      add(k, 0);
      k = first;
    }
  }

  const Lattices& lattices_;
  const Scores& scores_;
  std::vector<Word> words_;
  NodeList nodes_;  // of all words, as in the lattices: from the last to the first
  std::vector<float> alpha_, beta_, x_;
  std::vector<double> terms_;
  std::vector<Track> tracks_;
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

// Words of one lane, one after the other, with the lattices of those to come on their way from
// the memory to the processor.
class LaneWords {
 public:
  LaneWords(const SegmentedCorpus& corpus, const Lattices& lattices, size_t lane, size_t lanes)
      : corpus_(corpus), lattices_(lattices), word_(lane), lanes_(lanes) {}

  bool done() const { return word_ >= corpus_.word_count.size(); }
  void next() { word_ += lanes_; }
  void fetch_ahead() const {
    for_each_segment(word_ + 8 * lanes_, [&](uint32_t s) { lattices_.fetch_begin(s); });
    for_each_segment(word_ + 4 * lanes_, [&](uint32_t s) { lattices_.fetch_positions(s); });
  }

  const uint32_t* segments() const {
    return corpus_.word_segments.data() + corpus_.word_begin[word_];
  }
  size_t size() const { return corpus_.word_begin[word_ + 1] - corpus_.word_begin[word_]; }
  int64_t count() const { return corpus_.word_count[word_]; }

 private:
  template <typename Function>
  void for_each_segment(size_t word, Function function) const {
    if (word >= corpus_.word_count.size()) return;
    const uint64_t end = corpus_.word_begin[word + 1];
    for (uint64_t i = corpus_.word_begin[word]; i < end; ++i) function(corpus_.word_segments[i]);
  }

  const SegmentedCorpus& corpus_;
  const Lattices& lattices_;
  size_t word_, lanes_;
};

// Sums the words lane, lane + lanes, lane + 2 lanes ... Stops early when *cancel is set.
// forward_block must have been called for every block.
inline void e_step_lane(const SegmentedCorpus& corpus, const Lattices& lattices,
                        const Scores& scores, size_t lane, size_t lanes,
                        int64_t total_count, const volatile int* cancel, LaneSums& sums) {
  sums.expected.assign(scores.size(), 0.0f);
  sums.objective = 0.0f;
  WordPass pass(lattices, scores);
  const auto finish = [&] {
    pass.finish(sums.expected.data(), [&](float frequency, float z) {
      sums.objective -= frequency * z / total_count;
    });
  };
  for (LaneWords words(corpus, lattices, lane, lanes); !words.done() && !*cancel; words.next()) {
    words.fetch_ahead();
    pass.add(words.segments(), words.size(), static_cast<float>(words.count()));
    if (pass.full()) finish();
  }
  finish();
}

// The log likelihood of the words lane, lane + lanes, lane + 2 lanes ..., in double.
inline double log_likelihood_lane(const SegmentedCorpus& corpus, const Lattices& lattices,
                                  const Scores& scores, size_t lane, size_t lanes,
                                  const volatile int* cancel) {
  double sum = 0.0;
  WordPass pass(lattices, scores);
  const auto add = [&](float frequency, float z) { sum += double(frequency) * z; };
  for (LaneWords words(corpus, lattices, lane, lanes); !words.done() && !*cancel; words.next()) {
    words.fetch_ahead();
    pass.add(words.segments(), words.size(), static_cast<float>(words.count()));
    if (pass.full()) pass.finish(add);
  }
  pass.finish(add);
  return sum;
}

// For pruning: adds how often each piece stands in the best paths of the lane's words, and where.
inline void count_best_lane(const SegmentedCorpus& corpus, const Lattices& lattices,
                            const Scores& scores, size_t lane, size_t lanes,
                            const volatile int* cancel, LaneSums& sums) {
  sums.expected.resize(scores.size());
  sums.places.resize(scores.size());
  const uint32_t unknown = scores.unknown();
  BestPath best(lattices.chains(), scores.pieces, scores.longest());
  for (LaneWords words(corpus, lattices, lane, lanes); !words.done() && !*cancel; words.next()) {
    words.fetch_ahead();
    best.begin();
    for (size_t i = 0; i < words.size(); ++i) best.add(lattices[words.segments()[i]]);
    const float frequency = static_cast<float>(words.count());
    best.for_each_backwards([&](const PathNode& node) {
      if (node.piece == unknown) {
        sums.expected[0] += frequency;
        return;
      }
      sums.expected[node.piece] += frequency;
      NodePlace& place = sums.places[node.piece];
      if (!place.known()) place = {words.segments()[node.view], node.begin};
    });
  }
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
