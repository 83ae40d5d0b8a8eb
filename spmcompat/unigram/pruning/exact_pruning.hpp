// Exact losses. The exact loss of a piece is the fall in the score of the best segmentation of the
// corpus if only this piece is removed. Pruning by likelihood instead replaces the piece by the
// second-best segmentation of its own text. This gives only an upper bound of the loss: without the
// piece, the best segmentation of a pretoken may contain pieces that cross the piece's old ends.
//
// No piece crosses the end of a segment. So every distinct segment is searched separately: once
// with all pieces, and once without each piece of its best path.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/segments/segmented_corpus.hpp"
#include "spmcompat/unigram/lattice/best_path.hpp"
#include "spmcompat/unigram/lattice/lattice.hpp"
#include "spmcompat/unigram/lattice/prefix_links.hpp"
#include "spmcompat/unigram/pruning/losses.hpp"

namespace spmcompat {

// Returns how often each segment occurs in the corpus. The texts of the segments are not needed,
// and may already be dropped.
inline std::vector<uint64_t> segment_counts(const SegmentedCorpus& corpus) {
  const std::vector<uint32_t>& all = corpus.pretoken_segments;
  std::vector<uint64_t> counts(all.empty() ? 0 : *std::max_element(all.begin(), all.end()) + 1, 0);
  for (size_t pretoken = 0; pretoken < corpus.pretoken_count.size(); ++pretoken) {
    const uint64_t end = corpus.pretoken_begin[pretoken + 1];
    for (uint64_t i = corpus.pretoken_begin[pretoken]; i < end; ++i) {
      counts[corpus.pretoken_segments[i]] += corpus.pretoken_count[pretoken];
    }
  }
  return counts;
}

// Pairs of a piece and its loss in one segment, in the order of the segments.
using SegmentLosses = std::vector<std::pair<uint32_t, double>>;

class ExactLossSearch {
 public:
  ExactLossSearch(const Lattices& lattices, const Crew& crew)
      : lattices_(lattices), links_(lattices.links()), paths_(lattices, crew), crew_(crew) {}

  // Adds the losses in the segments [first, last).
  void add(uint32_t first, uint32_t last, const std::vector<uint64_t>& counts,
           SegmentLosses& losses) {
    for (uint32_t next = first; first < last; first = next) {
      for (; next < last && !paths_.full(); ++next) paths_.add(&next, 1);
      paths_.find();
      for (uint32_t i = first; i < next; ++i) add(i - first, lattices_[i], counts[i], losses);
      paths_.clear();
    }
  }

 private:
  static constexpr float kNone = -std::numeric_limits<float>::infinity();

  void add(size_t path, const LatticeView& view, uint64_t count, SegmentLosses& losses) {
    const float best = paths_.score(path);
    used_.clear();
    paths_.for_each_backwards(path, [this](uint32_t piece, const NodePosition&) {
      if (!links_.is_unknown(piece)) used_.push_back(piece);
    });
    std::sort(used_.begin(), used_.end());
    used_.erase(std::unique(used_.begin(), used_.end()), used_.end());
    for (const uint32_t piece : used_) {
      crew_.check_cancelled();
      losses.emplace_back(piece, count * (double(best) - best_without(piece, view)));
    }
  }

  // Returns the score of the best path that does not use `piece`.
  float best_without(uint32_t piece, const LatticeView& view) {
    best_.assign(view.length + 1, kNone);
    best_[0] = 0.0f;
    for (uint32_t i = 0; i < view.length; ++i) {
      links_.for_each(view.first_nodes[i], [&](uint32_t id, const LinkedPiece& node) {
        float& end = best_[i + node.length];
        if (id != piece) end = std::max(end, best_[i] + node.score);
      });
    }
    return best_.back();
  }

  const Lattices& lattices_;
  const PrefixLinks& links_;
  BestPaths paths_;
  const Crew& crew_;
  std::vector<uint32_t> used_;
  std::vector<float> best_;  // score of the best path to each position
};

// Returns how much the score of the best segmentation falls without each piece, in nats. Leaves out
// the pieces that no best path uses.
inline Losses find_exact_losses(const Lattices& lattices, Crew& crew) {
  constexpr size_t kRange = 1024;  // the number of segments that a worker takes at a time
  const std::vector<uint64_t> counts = segment_counts(lattices.corpus());
  std::vector<SegmentLosses> ranges((counts.size() + kRange - 1) / kRange);
  crew.for_each_range(counts.size(), kRange, [&](uint32_t first, uint32_t last) {
    ExactLossSearch(lattices, crew).add(first, last, counts, ranges[first / kRange]);
  });
  std::vector<double> losses(lattices.links().pieces(), 0.0);
  std::vector<bool> used(losses.size(), false);
  // Adds the losses in the order of the segments, so the sums do not depend on the number of
  // workers.
  for (const SegmentLosses& range : ranges) {
    for (const auto& [piece, loss] : range) {
      losses[piece] += loss;
      used[piece] = true;
    }
  }
  Losses found;
  for (uint32_t id = 0; id < losses.size(); ++id) {
    if (used[id]) found.ids.push_back(id);
  }
  std::stable_sort(found.ids.begin(), found.ids.end(),
                   [&](uint32_t a, uint32_t b) { return losses[a] > losses[b]; });
  for (const uint32_t id : found.ids) {
    found.losses.push_back(losses[id]);
    found.irreplaceable += losses[id] == std::numeric_limits<double>::infinity();
  }
  return found;
}

}  // namespace spmcompat
