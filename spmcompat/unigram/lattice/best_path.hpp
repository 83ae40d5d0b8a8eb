// The best segmentation of a pretoken (Viterbi). Ties are decided as in the reference.
//
// At every node, the reference adds the node's own score to the float scores of its left
// neighbours, and then compares the sums. If sums are equal, the neighbour that begins first wins.
// Addition is monotone, so the best score after a node is the best score at the position where the
// node begins, plus the node's own score. Only the choice between nearly equal neighbours depends
// on the rounding. So the forward pass stores one score for each position. It marks the position if
// a piece that begins earlier is nearly as good. When for_each_backwards follows the best path, it
// compares the scores at marked positions again.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/unigram/lattice/lanes.hpp"
#include "spmcompat/unigram/lattice/lattice.hpp"
#include "spmcompat/unigram/lattice/passes.hpp"
#include "spmcompat/unigram/lattice/prefix_links.hpp"
#include "spmcompat/unigram/lattice/processors.hpp"

namespace spmcompat {

// Finds the best paths of groups of pretokens. For each group:
//   1. Call add until the group is full.
//   2. Call find.
//   3. Call frequency, score and for_each_backwards for each pretoken.
//   4. Call clear.
class BestPaths {
 public:
  BestPaths(const Lattices& lattices, const Crew& crew)
      : lattices_(lattices),
        links_(lattices.links()),
        arithmetic_(lattices.arithmetic()),
        max_length_(links_.max_length()),
        unknown_magnitude_(std::fabs(links_[links_.unknown()].score)),
        runner_(arithmetic_, crew) {
    clear();
  }

  bool full() const { return pretokens_.size() >= kMaxPretokens || positions_ > kGroupPositions; }
  size_t size() const { return pretokens_.size(); }

  void add(const uint32_t* segments, size_t count, float frequency = 1.0f) {
    Pretoken pretoken{positions_, positions_, segments_.size(), frequency};
    for (size_t i = 0; i < count; ++i) {
      const LatticeView view = lattices_[segments[i]];
      segments_.push_back({segments[i], pretoken.end});
      uint32_t* const copies = grow(first_nodes_, pretoken.end + view.length + 1) + pretoken.end;
      copy_first_nodes(view, links_, copies);
      pretoken.end += view.length;
    }
    positions_ = pretoken.end + 1;
    pretokens_.push_back(pretoken);
  }

  void find() {
    path_ends_.assign(positions_, kUnreached);
    path_ends_[0] = {0.0f, 0};
    lists_.clear();
    for (const Pretoken& pretoken : pretokens_) {
      path_ends_[pretoken.begin] = {0.0f, 0};
      const size_t length = pretoken.end - pretoken.begin;
      const uint32_t size = count_nodes(links_, first_nodes_.data() + pretoken.begin, length);
      if (size > 0) lists_.push_back({nullptr, size, pretoken.begin, length});
    }
    PassArrays arrays = arithmetic_.arrays(links_, first_nodes_.data());
    arrays.path_ends = path_ends_.data();
    arrays.unknown_magnitude = unknown_magnitude_;
    runner_.run(lists_, arrays);
  }

  float frequency(size_t pretoken) const { return pretokens_[pretoken].frequency; }
  float score(size_t pretoken) const { return path_ends_[pretokens_[pretoken].end].score; }

  // Prefetches the last node of a pretoken's best path. Does nothing if the index is too large.
  void prefetch(size_t pretoken) const {
    if (pretoken >= pretokens_.size()) return;
    __builtin_prefetch(&links_[path_ends_[pretokens_[pretoken].end].piece & ~PathEnd::kNearTie]);
  }

  // Calls function(piece, position) for the nodes of the best path, from the last to the first.
  template <typename Function>
  void for_each_backwards(size_t pretoken, Function function) const {
    const size_t begin = pretokens_[pretoken].begin;
    float right_score = 0.0f;  // the score of the node on the right
    const Segment* segment = segments_.data() + segments_end(pretoken);
    for (size_t position = pretokens_[pretoken].end; position > begin;) {
      uint32_t piece = path_ends_[position].piece;
      if (piece & PathEnd::kNearTie) piece = first_of_ties(begin, position, right_score);
      position -= links_[piece].length;
      right_score = links_[piece].score;
      while (segment[-1].begin > position) --segment;
      function(piece, NodePosition{segment[-1].segment,
                                   static_cast<uint32_t>(position - segment[-1].begin)});
    }
  }

  void clear() {
    pretokens_.clear();
    segments_.clear();
    positions_ = 1;
  }

 private:
  static constexpr size_t kMaxPretokens = 512;

  struct Pretoken {
    size_t begin, end;  // the range of the pretoken's positions
    size_t segments;    // the index of the pretoken's first segment in segments_
    float frequency;
  };
  struct Segment {
    uint32_t segment;
    size_t begin;
  };

  // Every comparison with NaN is false, so the first path that reaches the position replaces the
  // NaN, even if the score of the path is infinite.
  static constexpr PathEnd kUnreached{std::numeric_limits<float>::quiet_NaN(), 0};

  size_t segments_end(size_t pretoken) const {
    return pretoken + 1 < pretokens_.size() ? pretokens_[pretoken + 1].segments : segments_.size();
  }

  // Returns the last piece of the best path to position `end`. As in the reference, the score of
  // the node on the right is added in float before scores are compared. If several pieces tie,
  // returns the one that begins first.
  uint32_t first_of_ties(size_t begin, size_t end, float right_score) const {
    const float best = path_ends_[end].score + right_score;
    uint32_t found = path_ends_[end].piece & ~PathEnd::kNearTie;
    bool is_found = false;
    for (size_t i = std::max(begin, end - std::min(end, max_length_)); i < end && !is_found; ++i) {
      links_.for_each(piece_of(first_nodes_[i]), [&](uint32_t id, const LinkedPiece& piece) {
        if (i + piece.length != end) return;
        if ((path_ends_[i].score + piece.score) + right_score != best) return;
        found = id;
        is_found = true;
      });
    }
    return found;
  }

  const Lattices& lattices_;
  const PrefixLinks& links_;
  const Arithmetic& arithmetic_;
  size_t max_length_;  // the maximum length of a piece
  float unknown_magnitude_;
  std::vector<Pretoken> pretokens_;
  std::vector<Segment> segments_;
  size_t positions_ = 0;  // the number of positions of all pretokens, plus 1 for scratch slot 0
  std::vector<uint32_t> first_nodes_;
  std::vector<PathEnd> path_ends_;
  std::vector<NodeList> lists_;
  LaneRunner<BestPathPass> runner_;
};

}  // namespace spmcompat
