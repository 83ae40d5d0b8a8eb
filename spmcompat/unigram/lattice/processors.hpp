// Compiles the kernels of the lattice passes twice, for any processor and for processors with AVX2.
// Both versions compute the same bits.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "spmcompat/unigram/lattice/log_math.hpp"
#include "spmcompat/unigram/lattice/prefix_links.hpp"
#include "spmcompat/unigram/lattice/vectors.hpp"

namespace spmcompat {

// The best path that ends at a position.
struct PathEnd {
  static constexpr uint32_t kNearTie = 0x80000000u;

  float score;
  // The last piece of the path. The bit kNearTie is set if a piece that begins earlier may tie.
  uint32_t piece;
};

// The arrays that the lanes of a pass read and write. They have one item for each position unless
// a comment says otherwise. Before a pass, every alpha or beta is -infinity, except where a lane
// starts. Item 0 is scratch memory for idle lanes, which write back the value that they read.
struct PassArrays {
  const LinkedPiece* pieces;
  uint32_t neutral;  // the node of idle lanes, which does not change any sum
  LogSumExp exact;
  const uint32_t* first_nodes;  // first node of every position, with the bit kFirstAtPosition
  // The forward pass and the backward pass use alpha.
  float* alpha = nullptr;
  // Only the backward pass uses the next three fields.
  float* beta = nullptr;
  float* log_marginal = nullptr;  // the log marginal of every node
  // The index in log_marginal at which scratch memory for idle lanes begins. The scratch memory is
  // as long as the longest list.
  size_t idle_log_marginal = 0;
  // Only the best-path pass uses the next two fields.
  PathEnd* path_ends = nullptr;
  float unknown_magnitude = 0.0f;  // absolute value of the unknown piece's score, the lowest one
};

// Prefetch distance of the expected counts, in nodes.
constexpr size_t kNodesAhead = 32;

// The passes. kWidth is the number of lanes that advance together.

// Finds the best path to the end of every node.
struct BestPathPass {
  static constexpr size_t kWidth = 8;
};
// Lists the nodes, and adds the term of every node to the alpha of the position where it ends.
struct ForwardPass {
  static constexpr size_t kWidth = 8;
};
// Reads the listed nodes from the last to the first. Computes their log marginals, and adds the
// term of every node to the beta of the position where the node begins.
struct BackwardPass {
  static constexpr size_t kWidth = 16;
};

// The state of the lanes that advance together. The pointers always point to node 0 of their lane;
// only the other members advance. Node 0 is the node that the pass processes first: the first node
// of the list, or the last one in the backward pass, which reads the list backwards.
template <typename Pass>
struct LaneStates {
  uint32_t* nodes[Pass::kWidth];  // node 0 in the list
  uint32_t node[Pass::kWidth];    // the next node; not used by the backward pass
  size_t position[Pass::kWidth];  // the position of the next node
  // Only the backward pass uses the next two members.
  float* log_marginal[Pass::kWidth];  // points to the log marginal of node 0
  float log_likelihood[Pass::kWidth];
};

}  // namespace spmcompat

#define SPMCOMPAT_PROCESSOR any_processor
#define SPMCOMPAT_WITH_AVX2 0
#include "spmcompat/unigram/lattice/kernels.hpp"
#undef SPMCOMPAT_WITH_AVX2
#undef SPMCOMPAT_PROCESSOR

// AVX2 needs aligned 32-byte variables, but GCC for Windows does not align them on the stack.
#if defined(__x86_64__) && (!defined(_WIN32) || defined(__clang__))

#include <immintrin.h>
#if defined(_MSC_VER)
// With clang-cl, immintrin.h omits this header unless the whole file is compiled for AVX.
#include <avxintrin.h>
#endif

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
#define SPMCOMPAT_PROCESSOR avx2
#define SPMCOMPAT_WITH_AVX2 1
#include "spmcompat/unigram/lattice/kernels.hpp"
#undef SPMCOMPAT_WITH_AVX2
#undef SPMCOMPAT_PROCESSOR
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#ifdef _WIN32
// Declares the function without <windows.h>, which defines macros such as min and max.
extern "C" __declspec(dllimport) int __stdcall IsProcessorFeaturePresent(unsigned long feature);
#endif

namespace spmcompat {
inline bool has_avx2() {
#ifdef _WIN32
  return IsProcessorFeaturePresent(40) != 0;  // PF_AVX2_INSTRUCTIONS_AVAILABLE
#else
  return __builtin_cpu_supports("avx2");
#endif
}
}  // namespace spmcompat

#else

namespace spmcompat {
namespace avx2 = any_processor;
inline bool has_avx2() { return false; }
}  // namespace spmcompat

#endif

namespace spmcompat {

// Selects the kernels that compute sums over lattices. `log_sum_exp` is the reference's function;
// the kernels compute the same results.
struct Arithmetic {
  bool avx2 = has_avx2();
  LogSumExp log_sum_exp = exact_log_sum_exp(true);

  PassArrays arrays(const PrefixLinks& links, const uint32_t* first_nodes, float* alpha = nullptr,
                    float* beta = nullptr, float* log_marginal = nullptr,
                    size_t idle_log_marginal = 0) const {
    return {links.data(), links.neutral(), log_sum_exp,      first_nodes, alpha,
            beta,         log_marginal,    idle_log_marginal};
  }
};

}  // namespace spmcompat
