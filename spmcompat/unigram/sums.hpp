// Sums over lattices, forward and backward, many lattices side by side.
//
// alpha and beta are kept per position, not per node: all nodes that begin at a position share
// their alpha, all that end at one their beta. Going forward, a node's term is added to the alpha
// of its end; terms arrive there by begin ascending, which is the order of the reference. Going
// backward, it is added to the beta of its begin; there terms arrive shortest node first, likewise.
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

#include "processors.hpp"

namespace spmcompat {

// Nodes to follow one after the other.
struct Track {
  const uint32_t* nodes;  // in the order of the lattice
  uint32_t size;
  size_t begin;   // of its alphas and betas
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
  static constexpr bool kForward = std::is_same_v<Direction, Forward>;

  void follow_group(const Track* const* tracks, size_t count, const Sums& sums) {
    const Track no_track{no_ops_.data(), static_cast<uint32_t>(no_ops_.size()), 0, 0, sums.unused_x};
    SideBySide<Direction> side_by_side;
    for (size_t i = 0; i < kWidth; ++i) {
      const Track& track = i < count ? *tracks[i] : no_track;
      side_by_side.node[i] = first_node(track);
      side_by_side.at[i] = i < count ? first_position(track) : 0;
      side_by_side.x[i] = sums.x + track.x;
      side_by_side.z[i] = track.z;
    }
    for (size_t done = 0; count > 0;) {
      const size_t end = tracks[count - 1]->size;
      steps(sums, side_by_side, done, end);
      done = end;
      for (; count > 0 && tracks[count - 1]->size == done; --count) {
        side_by_side.node[count - 1] = first_node(no_track);
        side_by_side.x[count - 1] = sums.x + sums.unused_x;
      }
    }
  }

  static const uint32_t* first_node(const Track& track) {
    return kForward ? track.nodes + track.size - 1 : track.nodes;
  }
  // Going forward, the mark on the first node of a position counts it.
  static size_t first_position(const Track& track) {
    return kForward ? track.begin - 1 : track.begin + track.length - 1;
  }
  void steps(const Sums& sums, SideBySide<Direction>& tracks, size_t first, size_t last) const {
    if constexpr (kForward) {
      (avx2_ ? avx2::follow_forward : any_processor::follow_forward)(sums, tracks, first, last);
    } else {
      (avx2_ ? avx2::follow_backward : any_processor::follow_backward)(sums, tracks, first, last);
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
