// log_math.hpp over arrays, for its tests.
#pragma once

#include <algorithm>
#include <cstddef>

#include "log_math.hpp"

namespace spmcompat {

SPMCOMPAT_INLINE void map_log_sum_exp(const float* x, const float* y, float* sums, size_t size) {
  for (size_t i = 0; i < size; i += 4) {
    Float4 a{}, b{};
    const size_t left = std::min<size_t>(4, size - i);
    for (size_t k = 0; k < left; ++k) {
      a[k] = x[i + k];
      b[k] = y[i + k];
    }
    const Float4 sum = log_sum_exp(a, b);
    for (size_t k = 0; k < left; ++k) sums[i + k] = sum[k];
  }
}

SPMCOMPAT_INLINE void map_add_exp(const float* sums, const float* frequencies, const float* x,
                                  float* new_sums, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    const Double4 terms = exp_terms(frequencies[i], Float4{x[i], 0, 0, x[i]});
    new_sums[i] = add_exp(sums[i], terms[i % 2 * 3], frequencies[i], x[i]);
  }
}

inline void log_sum_exp_arrays(const float* x, const float* y, float* sums, size_t size) {
  map_log_sum_exp(x, y, sums, size);
}
SPMCOMPAT_AVX2 inline void log_sum_exp_arrays_avx2(const float* x, const float* y, float* sums,
                                                   size_t size) {
  map_log_sum_exp(x, y, sums, size);
}
inline void log_sum_exp_arrays_exact(const float* x, const float* y, float* sums, size_t size) {
  for (size_t i = 0; i < size; ++i) sums[i] = exact::log_sum_exp(x[i], y[i]);
}

inline void add_exp_arrays(const float* sums, const float* frequencies, const float* x,
                           float* new_sums, size_t size) {
  map_add_exp(sums, frequencies, x, new_sums, size);
}
SPMCOMPAT_AVX2 inline void add_exp_arrays_avx2(const float* sums, const float* frequencies,
                                               const float* x, float* new_sums, size_t size) {
  map_add_exp(sums, frequencies, x, new_sums, size);
}
inline void add_exp_arrays_exact(const float* sums, const float* frequencies, const float* x,
                                 float* new_sums, size_t size) {
  for (size_t i = 0; i < size; ++i) new_sums[i] = exact::add_exp(sums[i], frequencies[i], x[i]);
}

}  // namespace spmcompat
