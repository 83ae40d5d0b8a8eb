// The kernels of the E-step, for any processor and for those with AVX2; which of them runs never
// changes a bit.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lattice.hpp"
#include "log_math.hpp"
#include "vectors.hpp"

namespace spmcompat {

// What tracks read and write. Before, a sum is -infinity, unless a track starts from it. What lies
// before a track's begin is no one's: a track that has ended writes there what it reads.
struct Sums {
  const NodePiece* pieces;
  uint32_t no_op;  // a node that changes no sum
  LogSumExp exact;
  float* alpha;
  float* beta = nullptr;  // backward only, as all below
  float* x = nullptr;     // the logarithm of each node's share of its word
  size_t unused_x = 0;    // as many as the longest track has nodes
};

struct Forward {
  static constexpr size_t kWidth = 8;  // tracks side by side
};
struct Backward {
  static constexpr size_t kWidth = 16;
};

// Where tracks are: step k looks at the node k behind (or before, going forward) the first.
template <typename Direction>
struct SideBySide {
  const uint32_t* node[Direction::kWidth];
  size_t at[Direction::kWidth];  // position
  float* x[Direction::kWidth];
  float z[Direction::kWidth];
};

}  // namespace spmcompat

#define SPMCOMPAT_PROCESSOR any_processor
#include "kernels.hpp"
#undef SPMCOMPAT_PROCESSOR

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)

#include <immintrin.h>

#pragma GCC push_options
#pragma GCC target("avx2")
#define SPMCOMPAT_PROCESSOR avx2
#include "kernels.hpp"
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
