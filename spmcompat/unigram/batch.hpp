// Lattices side by side: what all passes over them have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lattice.hpp"
#include "processors.hpp"

namespace spmcompat {

// So many nodes are worth a batch.
constexpr size_t kManyNodes = 1 << 16;

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

// Copies a lattice's positions, with their marks, and returns how many nodes they have.
inline uint32_t copy_tops(const LatticeView& view, const PieceChains& chains, uint32_t* tops) {
  uint32_t size = 0;
  for (uint32_t i = 0; i < view.length; ++i) {
    size += chains[view.tops[i]].size;
    tops[i] = view.tops[i] | kFirstAtPosition;
  }
  return size;
}

}  // namespace spmcompat
