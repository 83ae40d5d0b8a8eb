// Sums over lattices, forward and backward, many lattices side by side.
//
// alpha and beta are kept per position, not per node: all nodes that begin at a position share
// their alpha, all that end at one their beta. Going forward, a node's term is added to the alpha
// of its end; terms arrive there by begin ascending, which is the order of the reference. Going
// backward, it is added to the beta of its begin; there terms arrive shortest node first, likewise.
// Where a lattice is gone through for the first time, its nodes are written down.
//
// An addition waits for the one before it. So many tracks are followed side by side: four fill a
// vector, and while one vector waits, the processor works on others.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "spmcompat/unigram/lattice/processors.hpp"

namespace spmcompat {

// Nodes to follow one after the other.
struct Track {
  uint32_t* nodes;  // where they are written down
  uint32_t size;
  size_t begin;   // of its tops, alphas and betas
  size_t length;  // in positions
  size_t x = 0;   // of its nodes
  float z = 0;    // log likelihood of its word
};

// Follows tracks; those of about equal size go side by side, so that they end together.
template <typename Direction>
class Follower {
 public:
  explicit Follower(bool avx2) : avx2_(avx2) {}

  void follow(const std::vector<Track>& tracks, const Sums& sums) {
    if (tracks.empty()) return;
    sort(tracks);
    no_ops_.assign(order_[0]->size, sums.no_op);
    for (size_t i = 0; i < order_.size(); i += kWidth) {
      follow_group(order_.data() + i, std::min(kWidth, order_.size() - i), sums);
    }
  }

 private:
  static constexpr size_t kWidth = Direction::kWidth;
  static constexpr bool kBackward = std::is_same_v<Direction, Backward>;

  void follow_group(const Track* const* tracks, size_t count, const Sums& sums) {
    SideBySide<Direction> side_by_side;
    for (size_t i = 0; i < kWidth; ++i) {
      if (i < count) {
        start(side_by_side, i, *tracks[i], sums);
      } else {
        stop(side_by_side, i, sums);
      }
    }
    for (size_t done = 0; count > 0;) {
      const size_t end = tracks[count - 1]->size;
      if (avx2_) {
        avx2::follow(sums, side_by_side, done, end);
      } else {
        any_processor::follow(sums, side_by_side, done, end);
      }
      done = end;
      for (; count > 0 && tracks[count - 1]->size == done; --count) {
        stop(side_by_side, count - 1, sums);
      }
    }
  }

  static void start(SideBySide<Direction>& tracks, size_t i, const Track& track, const Sums& sums) {
    if constexpr (kBackward) {
      const size_t last = track.size - 1;
      tracks.nodes[i] = track.nodes + last;
      tracks.at[i] = track.begin + track.length - 1;
      tracks.x[i] = sums.x + track.x + last;
      tracks.z[i] = track.z;
    } else {
      tracks.nodes[i] = track.nodes;
      tracks.at[i] = track.begin;
      tracks.here[i] = sums.tops[track.begin];
    }
  }
  // From here on the track works on memory of no one, and changes nothing there.
  void stop(SideBySide<Direction>& tracks, size_t i, const Sums& sums) {
    tracks.at[i] = 0;
    if constexpr (kBackward) {
      tracks.nodes[i] = &no_ops_.back();
      tracks.x[i] = sums.x + sums.unused_x + no_ops_.size() - 1;
      tracks.z[i] = 0.0f;
    } else {
      tracks.nodes[i] = no_ops_.data();
      tracks.here[i] = sums.no_op;
    }
  }

  // Fills `order_`: the longest first.
  void sort(const std::vector<Track>& tracks) {
    std::array<uint32_t, kSorted + 2> begin{};
    for (const Track& track : tracks) ++begin[place_of(track) + 1];
    for (size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
    const size_t very_long = begin[1];
    order_.resize(tracks.size());
    for (const Track& track : tracks) order_[begin[place_of(track)]++] = &track;
    std::sort(order_.begin(), order_.begin() + very_long,
              [](const Track* a, const Track* b) { return a->size > b->size; });
  }
  static size_t place_of(const Track& track) {
    return kSorted - std::min<size_t>(track.size, kSorted);
  }

  static constexpr size_t kSorted = 255;
  bool avx2_;
  std::vector<const Track*> order_;
  std::vector<uint32_t> no_ops_;
};

}  // namespace spmcompat
