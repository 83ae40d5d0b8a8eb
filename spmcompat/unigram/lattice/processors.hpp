// The kernels of the E-step, for any processor and for those with AVX2; which of them runs never
// changes a bit.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "spmcompat/unigram/lattice/lattice.hpp"
#include "spmcompat/unigram/lattice/log_math.hpp"
#include "spmcompat/unigram/lattice/vectors.hpp"

namespace spmcompat {

// The best path to a position.
struct PathStep {
  static constexpr uint32_t kNear = 0x80000000u;

  float best;      // its score
  uint32_t piece;  // the last one, and kNear where an earlier one may come out equal
};

// What tracks read and write. Before, a sum is -infinity, unless a track starts from it. What lies
// before a track's begin is no one's: a track that has ended writes there what it reads.
struct Sums {
  const ChainNode* pieces;
  uint32_t no_op;               // a node that changes no sum
  LogSumExp exact;
  const uint32_t* tops;         // the first node of every position, with its mark
  float* alpha = nullptr;       // but where nodes are only listed
  float* beta = nullptr;        // backward only, as all below
  float* x = nullptr;           // the logarithm of each node's share of its word
  size_t unused_x = 0;          // as many as the longest track has nodes
  PathStep* steps = nullptr;    // best paths only, as below
  float margin = 0.0f;          // no piece scores lower than minus that
};

// Counts are sent for so many nodes before they are added to.
constexpr size_t kNodesAhead = 32;

// Writes nodes down.
struct Listing {
  static constexpr size_t kWidth = 8;  // tracks side by side
};
// Looks for the best paths to the ends of nodes.
struct BestForward {
  static constexpr size_t kWidth = 8;
};
// Writes nodes down and sums up to their ends.
struct Forward {
  static constexpr size_t kWidth = 8;
};
// Reads nodes from the last to the first and sums back to their begins.
struct Backward {
  static constexpr size_t kWidth = 16;
};

// Where tracks are: step k looks at the node k behind (or before, going backward) the first.
template <typename Direction>
struct SideBySide {
  uint32_t* nodes[Direction::kWidth];
  uint32_t here[Direction::kWidth];  // the node of the next step, but backward
  size_t at[Direction::kWidth];      // position
  float* x[Direction::kWidth];
  float z[Direction::kWidth];
};

}  // namespace spmcompat

#define SPMCOMPAT_PROCESSOR any_processor
#define SPMCOMPAT_WITH_AVX2 0
#include "spmcompat/unigram/lattice/kernels.hpp"
#undef SPMCOMPAT_WITH_AVX2
#undef SPMCOMPAT_PROCESSOR

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)

#include <immintrin.h>

#pragma GCC push_options
#pragma GCC target("avx2")
#define SPMCOMPAT_PROCESSOR avx2
#define SPMCOMPAT_WITH_AVX2 1
#include "spmcompat/unigram/lattice/kernels.hpp"
#undef SPMCOMPAT_WITH_AVX2
#undef SPMCOMPAT_PROCESSOR
#pragma GCC pop_options

namespace spmcompat {
inline bool has_avx2() { return __builtin_cpu_supports("avx2"); }
}  // namespace spmcompat

#else

namespace spmcompat {
namespace avx2 = any_processor;
inline bool has_avx2() { return false; }
}  // namespace spmcompat

#endif
