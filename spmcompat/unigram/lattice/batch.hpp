// Lattices side by side: what all passes over them have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spmcompat/unigram/lattice/lattice.hpp"
#include "spmcompat/unigram/lattice/processors.hpp"

namespace spmcompat {

// So many positions are worth a batch.
constexpr size_t kManyPositions = 1 << 14;

// How sums over lattices are computed.
struct Arithmetic {
  bool avx2 = has_avx2();
  LogSumExp log_sum_exp = exact_log_sum_exp(true);

  Sums sums(const PieceChains& chains, const uint32_t* tops, float* alpha = nullptr,
            float* beta = nullptr, float* x = nullptr, size_t unused_x = 0) const {
    return {chains.data(), chains.no_op(), log_sum_exp, tops, alpha, beta, x, unused_x};
  }
};

// Room for a batch, which lets alone what it holds.
template <typename T>
T* room(std::vector<T>& values, size_t size) {
  if (values.size() < size) values.resize(size);
  return values.data();
}

// Copies a lattice's positions, with their marks. Their nodes will soon be counted: they are sent
// for, from all over the memory.
inline void copy_tops(const LatticeView& view, const PieceChains& chains, uint32_t* tops) {
  for (uint32_t i = 0; i < view.length; ++i) {
    __builtin_prefetch(&chains[view.tops[i]]);
    tops[i] = view.tops[i] | kFirstAtPosition;
  }
}

// How many nodes there are at positions that were copied.
inline uint32_t count_nodes(const PieceChains& chains, const uint32_t* tops, size_t length) {
  uint32_t size = 0;
  for (size_t i = 0; i < length; ++i) size += chains[piece_of(tops[i])].size;
  return size;
}

}  // namespace spmcompat
