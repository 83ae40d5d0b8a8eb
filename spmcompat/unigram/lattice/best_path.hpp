// The best segmentation of a word (Viterbi), with the reference's ties.
//
// The reference compares, at every node, the scores of its left neighbours after its own
// score was added, in float; the first in order of their begin wins. Addition is monotone,
// so the best score behind a node is the best score at its position plus its own, and only
// the choice among nearly equal neighbours depends on the rounding. The forward pass keeps
// one score a position and marks where an earlier neighbour is that close; the way back
// compares again there.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "spmcompat/unigram/lattice/batch.hpp"
#include "spmcompat/unigram/lattice/lattice.hpp"
#include "spmcompat/unigram/lattice/sums.hpp"

namespace spmcompat {

// The best paths of words, a batch at a time.
class BestPaths {
 public:
  BestPaths(const Lattices& lattices, const Arithmetic& arithmetic)
      : lattices_(lattices),
        chains_(lattices.chains()),
        arithmetic_(arithmetic),
        longest_(chains_.longest()),
        margin_(std::fabs(chains_[chains_.unknown()].score)),
        forward_(arithmetic.avx2) {
    clear();
  }

  bool full() const { return words_.size() >= kMaxWords || positions_ > kManyPositions; }
  size_t size() const { return words_.size(); }

  void add(const uint32_t* segments, size_t count, float frequency = 1.0f) {
    Word word{positions_, positions_, segments_.size(), frequency};
    for (size_t i = 0; i < count; ++i) {
      const LatticeView view = lattices_[segments[i]];
      segments_.push_back({segments[i], word.end});
      copy_tops(view, chains_, room(tops_, word.end + view.length + 1) + word.end);
      word.end += view.length;
    }
    positions_ = word.end + 1;
    words_.push_back(word);
  }

  // Finds the paths of all words that were added.
  void find() {
    steps_.assign(positions_, kUnreached);
    steps_[0] = {0.0f, 0};
    tracks_.clear();
    for (const Word& word : words_) {
      steps_[word.begin] = {0.0f, 0};
      const size_t length = word.end - word.begin;
      const uint32_t size = count_nodes(chains_, tops_.data() + word.begin, length);
      if (size > 0) tracks_.push_back({nullptr, size, word.begin, length});
    }
    Sums sums = arithmetic_.sums(chains_, tops_.data());
    sums.steps = steps_.data();
    sums.margin = margin_;
    forward_.follow(tracks_, sums);
  }

  float frequency(size_t word) const { return words_[word].frequency; }
  float score(size_t word) const { return steps_[words_[word].end].best; }

  // Hints that the path of a word will soon be looked at.
  void fetch_last(size_t word) const {
    if (word >= words_.size()) return;
    __builtin_prefetch(&chains_[steps_[words_[word].end].piece & ~PathStep::kNear]);
  }

  // Calls function(piece, place) for the nodes of the best path, from the last to the first.
  template <typename Function>
  void for_each_backwards(size_t word, Function function) const {
    const size_t begin = words_[word].begin;
    float right = 0.0f;  // the score of the node on the right
    const Segment* segment = segments_.data() + end_of_segments(word);
    for (size_t at = words_[word].end; at > begin;) {
      uint32_t piece = steps_[at].piece;
      if (piece & PathStep::kNear) piece = first_equal(begin, at, right);
      at -= chains_[piece].length;
      right = chains_[piece].score;
      while (segment[-1].begin > at) --segment;
      function(piece, NodePlace{segment[-1].segment, static_cast<uint32_t>(at - segment[-1].begin)});
    }
  }

  void clear() {
    words_.clear();
    segments_.clear();
    positions_ = 1;
  }

 private:
  static constexpr size_t kMaxWords = 512;

  struct Word {
    size_t begin, end;  // of its positions
    size_t segments;    // begin of its segments
    float frequency;
  };
  struct Segment {
    uint32_t segment;
    size_t begin;
  };

  // No comparison with it holds, so whatever comes first takes its place, even an infinity.
  static constexpr PathStep kUnreached{std::numeric_limits<float>::quiet_NaN(), 0};

  size_t end_of_segments(size_t word) const {
    return word + 1 < words_.size() ? words_[word + 1].segments : segments_.size();
  }

  uint32_t first_equal(size_t begin, size_t end, float right) const {
    const float best = steps_[end].best + right;
    uint32_t found = steps_[end].piece & ~PathStep::kNear;
    bool is_found = false;
    for (size_t i = std::max(begin, end - std::min(end, longest_)); i < end && !is_found; ++i) {
      chains_.for_each(piece_of(tops_[i]), [&](uint32_t piece, const ChainNode& node) {
        if (i + node.length != end) return;
        if ((steps_[i].best + node.score) + right != best) return;
        found = piece;
        is_found = true;
      });
    }
    return found;
  }

  const Lattices& lattices_;
  const PieceChains& chains_;
  const Arithmetic& arithmetic_;
  size_t longest_;
  float margin_;  // no piece scores lower than the unknown one
  std::vector<Word> words_;
  std::vector<Segment> segments_;
  size_t positions_ = 0;        // of all words, and what stands between
  std::vector<uint32_t> tops_;  // the first node of each position, with its mark
  std::vector<PathStep> steps_;
  std::vector<Track> tracks_;
  Follower<BestForward> forward_;
};

}  // namespace spmcompat
