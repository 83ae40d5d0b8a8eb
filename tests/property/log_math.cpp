// The arithmetic of the E-step, applied to arrays: the fast functions of kernels.hpp for the
// processor SPMCOMPAT_TESTED, and the exact ones of log_math.hpp. test_log_math.py compiles this
// file as a library.

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "spmcompat/unigram/lattice/processors.hpp"

namespace tested = spmcompat::SPMCOMPAT_TESTED;
using spmcompat::Double4;
using spmcompat::Float4;

extern "C" {

bool has_avx2() { return spmcompat::has_avx2(); }

void log_sum_exp(const float* x, const float* y, bool with_log1p, float* sums, size_t size) {
  const spmcompat::LogSumExp exact = spmcompat::exact_log_sum_exp(with_log1p);
  for (size_t i = 0; i < size; i += 4) {
    const size_t bytes = std::min<size_t>(size - i, 4) * sizeof(float);
    Float4 a{}, b{};
    std::memcpy(&a, x + i, bytes);
    std::memcpy(&b, y + i, bytes);
    const Float4 sum = tested::log_sum_exp(a, b, exact);
    std::memcpy(sums + i, &sum, bytes);
  }
}

void log_sum_exp_exact(const float* x, const float* y, bool with_log1p, float* sums, size_t size) {
  const spmcompat::LogSumExp exact = spmcompat::exact_log_sum_exp(with_log1p);
  for (size_t i = 0; i < size; ++i) sums[i] = exact(x[i], y[i]);
}

void add_exp(const float* sums, const float* frequencies, const float* x, float* new_sums,
             size_t size) {
  for (size_t i = 0; i < size; ++i) {
    const Double4 terms = tested::exp_terms(frequencies[i], Float4{x[i], 0, 0, x[i]});
    new_sums[i] = tested::add_exp(sums[i], terms[i % 2 * 3], frequencies[i], x[i]);
  }
}

void add_exp_exact(const float* sums, const float* frequencies, const float* x, float* new_sums,
                   size_t size) {
  for (size_t i = 0; i < size; ++i) {
    new_sums[i] = spmcompat::exact::add_exp(sums[i], frequencies[i], x[i]);
  }
}
}
