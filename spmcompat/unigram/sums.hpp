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
#include <cstring>
#include <vector>

#include "lattice.hpp"
#include "log_math.hpp"
#include "vectors.hpp"

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

// What tracks read and write. Before, a sum is -infinity, unless a track starts from it. What lies
// before a track's begin is no one's: a track that has ended writes there what it reads.
struct Sums {
  const NodePiece* pieces;
  uint32_t no_op;  // a node that changes no sum
  float* alpha;
  float* beta = nullptr;  // backward only, as all below
  float* x = nullptr;     // the logarithm of each node's share of its word
  size_t unused_x = 0;    // as many as the longest track has nodes
};

struct Forward {
  static constexpr size_t kWidth = 8;  // tracks side by side

  // The mark stands on the first node of a position, in this direction: it is counted before.
  static size_t first_position(const Track& track) { return track.begin - 1; }
  static const uint32_t* first_node(const Track& track) { return track.nodes + track.size - 1; }

  SPMCOMPAT_INLINE static void step(const Sums& sums, const uint32_t* const* node, size_t* at,
                                    const size_t*, const float*, size_t k) {
    float term[4];
    float* end[4];
    for (int i = 0; i < 4; ++i) {
      const uint32_t here = *(node[i] - k);
      const NodePiece& piece = sums.pieces[piece_of(here)];
      at[i] += here >> 31;
      term[i] = sums.alpha[at[i]] + piece.score;
      end[i] = sums.alpha + at[i] + piece.length;
    }
    const Float4 sum = log_sum_exp(Float4{*end[0], *end[1], *end[2], *end[3]},
                                   Float4{term[0], term[1], term[2], term[3]});
    for (int i = 0; i < 4; ++i) *end[i] = sum[i];
  }
};

struct Backward {
  static constexpr size_t kWidth = 16;

  static size_t first_position(const Track& track) { return track.begin + track.length - 1; }
  static const uint32_t* first_node(const Track& track) { return track.nodes; }

  SPMCOMPAT_INLINE static void step(const Sums& sums, const uint32_t* const* node, size_t* at,
                                    const size_t* x, const float* z, size_t k) {
    float term[4];
    float* begin[4];
    for (int i = 0; i < 4; ++i) {
      const uint32_t here = node[i][k];
      const NodePiece& piece = sums.pieces[piece_of(here)];
      const float beta = sums.beta[at[i] + piece.length];
      term[i] = piece.score + beta;
      sums.x[x[i] + k] = ((sums.alpha[at[i]] + piece.score) + beta) - z[i];
      begin[i] = sums.beta + at[i];
      at[i] -= here >> 31;
    }
    const Float4 sum = log_sum_exp(Float4{*begin[0], *begin[1], *begin[2], *begin[3]},
                                   Float4{term[0], term[1], term[2], term[3]});
    for (int i = 0; i < 4; ++i) *begin[i] = sum[i];
  }
};

// Follows tracks; those of about equal size go side by side, so that they end together.
template <typename Direction>
class Follower {
 public:
  SPMCOMPAT_INLINE void follow(const std::vector<Track>& tracks, const Sums& sums) {
    sort(tracks);
    if (tracks.empty()) return;
    no_ops_.assign(order_[0]->size, sums.no_op);
    for (size_t i = 0; i < order_.size(); i += kWidth) {
      follow_group(order_.data() + i, std::min(kWidth, order_.size() - i), sums);
    }
  }

 private:
  static constexpr size_t kWidth = Direction::kWidth;

  SPMCOMPAT_INLINE void follow_group(const Track* const* tracks, size_t count, const Sums& sums) {
    const uint32_t* node[kWidth];
    size_t at[kWidth], x[kWidth];
    float z[kWidth];
    const Track no_track{no_ops_.data(), static_cast<uint32_t>(no_ops_.size()), 0, 0, sums.unused_x};
    for (size_t i = 0; i < kWidth; ++i) {
      const Track& track = i < count ? *tracks[i] : no_track;
      node[i] = Direction::first_node(track);
      at[i] = i < count ? Direction::first_position(track) : 0;
      x[i] = track.x;
      z[i] = track.z;
    }
    for (size_t k = 0; count > 0;) {
      for (const size_t end = tracks[count - 1]->size; k < end; ++k) {
        for (size_t i = 0; i < kWidth; i += 4) {
          Direction::step(sums, node + i, at + i, x + i, z + i, k);
        }
      }
      for (; count > 0 && tracks[count - 1]->size == k; --count) {
        node[count - 1] = Direction::first_node(no_track);
        x[count - 1] = sums.unused_x;
      }
    }
  }

  // Fills `order_`: the longest first, exactly so up to kSorted.
  void sort(const std::vector<Track>& tracks) {
    std::array<uint32_t, kSorted + 2> begin{};
    for (const Track& track : tracks) ++begin[place_of(track) + 1];
    for (size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
    const size_t long_ones = begin[1];
    order_.resize(tracks.size());
    for (const Track& track : tracks) order_[begin[place_of(track)]++] = &track;
    std::sort(order_.begin(), order_.begin() + long_ones,
              [](const Track* a, const Track* b) { return a->size > b->size; });
  }
  static size_t place_of(const Track& track) { return kSorted - std::min<size_t>(track.size, kSorted); }

  static constexpr size_t kSorted = 255;
  std::vector<const Track*> order_;
  std::vector<uint32_t> no_ops_;
};

// Logarithms of shares to the terms of the expected counts.
SPMCOMPAT_INLINE void to_terms(const float* x, size_t size, float frequency, double* terms) {
  for (size_t i = 0; i < size; i += 4) {
    Float4 four;
    std::memcpy(&four, x + i, sizeof four);
    const Double4 term = exp_terms(frequency, four);
    std::memcpy(terms + i, &term, sizeof term);
  }
}

// The same for processors with AVX2.
SPMCOMPAT_AVX2 inline void follow_avx2(Follower<Forward>& follower,
                                       const std::vector<Track>& tracks, const Sums& sums) {
  follower.follow(tracks, sums);
}
SPMCOMPAT_AVX2 inline void follow_avx2(Follower<Backward>& follower,
                                       const std::vector<Track>& tracks, const Sums& sums) {
  follower.follow(tracks, sums);
}
SPMCOMPAT_AVX2 inline void to_terms_avx2(const float* x, size_t size, float frequency,
                                         double* terms) {
  to_terms(x, size, frequency, terms);
}

}  // namespace spmcompat
