// Sums of probabilities in the logarithm, rounded as the reference rounds them.
//
// sentencepiece 0.2.3 computes in double with the library's exp and log1p and rounds to float
// once. Nearly always a cheap approximation with a proven bound rounds to the same float, and
// a test tells when that is certain (Ziv 1991, "Fast evaluation of elementary mathematical
// functions with correctly rounded last bit"); else the reference's own expression is computed.
// Four values are worked on at a time, in vectors of the compiler: it makes of them what the
// processor that it compiles for has, and none of that changes a bit.
//
// The bounds. Both approximations are polynomials through the Chebyshev nodes of a cell of
// width h; with n coefficients the error is at most max|f^(n)| / n! * 2 (h/4)^n.
// - log1p(exp(d)) on [-24, 0], h = 1/16, n = 4: |f^(4)| <= 1/8, so 6.3e-10. Below -24 the value
//   at -24 is taken, off by less than 3.8e-11.
// - exp(r) on |r| <= ln 2 / 2, n = 9: exp(r) <= 1.42, so 1.1e-12, and relative to exp(r) 1.6e-12.
// Added are the roundings of the evaluation itself (no term of the cubics is above 1, so 1e-15
// there; the argument of exp is below 2^7, so its reduction is off by less than 2^-46), the error
// of the library's functions (below 1e-15 of their value) and the rounding of the reference's
// last addition in double (2^-53 of the sum). The tests leave twice that room, or more.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "vectors.hpp"

namespace spmcompat {

// The reference's expressions, to the letter of their rounding.
namespace exact {

// log(exp(x) + exp(y)): the difference in float, exp and log1p in double, one rounding to
// float; the larger alone when the other is below it by over 50.
inline float log_sum_exp(float x, float y) {
  const float low = std::min(x, y);
  const float high = std::max(x, y);
  if (high > low + 50.0f) return high;
  return static_cast<float>(high + std::log1p(std::exp(static_cast<double>(low - high))));
}

// sum + frequency * exp(x): product and sum in double, one rounding to float.
inline float add_exp(float sum, float frequency, float x) {
  return static_cast<float>(sum + frequency * std::exp(static_cast<double>(x)));
}

}  // namespace exact

SPMCOMPAT_INLINE Double4 load_halves(const double* low, const double* high) {
  Double2 a, b;
  std::memcpy(&a, low, sizeof a);
  std::memcpy(&b, high, sizeof b);
  return __builtin_shufflevector(a, b, 0, 1, 2, 3);
}

// The coefficients, the constant first, of the polynomial through f at the Chebyshev nodes of
// [center - h/2, center + h/2].
template <size_t N, typename Function>
std::array<double, N> fit(Function f, double center, double h) {
  double x[N];
  std::array<double, N> c, p{};
  for (size_t i = 0; i < N; ++i) {
    x[i] = center + h / 2 * std::cos(M_PI * (2 * i + 1) / (2 * N));
    c[i] = f(x[i]);
  }
  for (size_t order = 1; order < N; ++order) {  // Newton's divided differences
    for (size_t i = N - 1; i >= order; --i) c[i] = (c[i] - c[i - 1]) / (x[i] - x[i - order]);
  }
  for (size_t i = N; i-- > 0;) {  // p = p * (x - x[i]) + c[i]
    for (size_t k = N - 1; k > 0; --k) p[k] = p[k - 1] - x[i] * p[k];
    p[0] = c[i] - x[i] * p[0];
  }
  return p;
}

struct LogMathTables {
  static constexpr int kCells = 24 * 16 + 1;

  LogMathTables() {
    const auto f = [](double d) { return std::log1p(std::exp(d)); };
    for (int i = 0; i < kCells; ++i) soft_plus[i] = fit<4>(f, -(i + 0.5) / 16, 1.0 / 16);
    exp = fit<9>([](double r) { return std::exp(r); }, 0, M_LN2);
  }

  std::array<std::array<double, 4>, kCells> soft_plus;  // of d in (-(i + 1) / 16, -i / 16]
  std::array<double, 9> exp;
};

inline const LogMathTables kLogMath;

// log1p(exp(d)) for d in [-24, 0].
SPMCOMPAT_INLINE Double4 soft_plus(const Float4& d) {
  const Int4 cell = __builtin_convertvector(d * -16.0f, Int4);
  const double* row0 = kLogMath.soft_plus[cell[0]].data();
  const double* row1 = kLogMath.soft_plus[cell[1]].data();
  const double* row2 = kLogMath.soft_plus[cell[2]].data();
  const double* row3 = kLogMath.soft_plus[cell[3]].data();
  // Rows become columns.
  const Double4 even = load_halves(row0, row2), odd = load_halves(row1, row3);
  const Double4 even2 = load_halves(row0 + 2, row2 + 2), odd2 = load_halves(row1 + 2, row3 + 2);
  const Double4 c0 = __builtin_shufflevector(even, odd, 0, 4, 2, 6);
  const Double4 c1 = __builtin_shufflevector(even, odd, 1, 5, 3, 7);
  const Double4 c2 = __builtin_shufflevector(even2, odd2, 0, 4, 2, 6);
  const Double4 c3 = __builtin_shufflevector(even2, odd2, 1, 5, 3, 7);
  const Double4 x = __builtin_convertvector(d, Double4);
  return (c0 + c1 * x) + (c2 + c3 * x) * (x * x);
}

// Equal to exact::log_sum_exp, each for itself, for finite arguments and for x = -inf.
SPMCOMPAT_INLINE Float4 log_sum_exp(const Float4& x, const Float4& y) {
  const Float4 low = x < y ? x : y;
  const Float4 high = x < y ? y : x;
  const Float4 d = low - high;
  const Double4 base = __builtin_convertvector(high, Double4);
  const Double4 sum = base + soft_plus(d > -24.0f ? d : Float4{-24.0f, -24.0f, -24.0f, -24.0f});
  const Double4 slack = (base < 0 ? -base : base) * 1.2e-15 + 1.4e-9;
  const Float4 below = __builtin_convertvector(sum - slack, Float4);
  const Float4 above = __builtin_convertvector(sum + slack, Float4);
  const Long2 differ = bits_as<Long2>(below != above);
  if (__builtin_expect((differ[0] | differ[1]) == 0, 1)) return below;
  Float4 result = below;
  for (int i = 0; i < 4; ++i) {
    if (below[i] != above[i]) result[i] = exact::log_sum_exp(x[i], y[i]);
  }
  return result;
}

// What of a double is cut off when it is rounded to float, and where it is rounded up.
constexpr uint32_t kTail = (1u << 29) - 1;
constexpr uint32_t kMiddle = 1u << 28;

// frequency * exp(x) for 0 < frequency < 2^64, off by less than 2^-39 of it; for x out of range
// a NaN that add_exp takes for a case of doubt.
SPMCOMPAT_INLINE Double4 exp_terms(float frequency, const Float4& x) {
  const Double4 wide = __builtin_convertvector(x, Double4);
  const Double4 scaled = wide * (1 / M_LN2);
  const Double4 nearest = scaled + 0x1.8p52;  // rounds to a whole number, in the low bits
  const Double4 power = bits_as<Double4>((bits_as<Long4>(nearest) + 1023) << 52);
  const Double4 r = (scaled - (nearest - 0x1.8p52)) * M_LN2;
  const Double4 r2 = r * r;
  const Double4 r4 = r2 * r2;
  const std::array<double, 9>& c = kLogMath.exp;
  const Double4 low = (c[0] + c[1] * r) + (c[2] + c[3] * r) * r2;
  const Double4 high = (c[4] + c[5] * r) + (c[6] + c[7] * r) * r2 + c[8] * r4;
  const Double4 term = (power * static_cast<double>(frequency)) * (low + high * r4);
  const Long4 inside = (wide > -80.0) & (wide < 80.0);
  return bits_as<Double4>((bits_as<Long4>(term) & inside) |
                          (int64_t{0x7ff8000000000000 | kMiddle} & ~inside));
}

// Equal to exact::add_exp(sum, frequency, x) for sum >= 0, from the term that exp_terms gives.
SPMCOMPAT_INLINE float add_exp(float sum, double term, float frequency, float x) {
  // A term in range is above the least normal float, so the tail is always 29 bits long. The
  // total is off by less than 2^-39, which is 2^14 of its units; four times that is in doubt.
  constexpr uint32_t kDoubt = 1u << 16;
  const double total = sum + term;
  const uint32_t tail = static_cast<uint32_t>(bits_as<uint64_t>(total));
  if (__builtin_expect(((tail - kMiddle + kDoubt) & kTail) > 2 * kDoubt, 1)) {
    return static_cast<float>(total);
  }
  return exact::add_exp(sum, frequency, x);
}

// The digamma function by its recurrence up to 7 and its asymptotic series at x - 1/2, in double.
inline double digamma(double x) {
  double result = 0.0;
  for (; x < 7; ++x) result -= 1 / x;
  x -= 1.0 / 2.0;
  const double r = 1.0 / x;
  const double r2 = r * r;
  const double r4 = r2 * r2;
  return result + (std::log(x) + (1.0 / 24.0) * r2 - (7.0 / 960.0) * r4 +
                   (31.0 / 8064.0) * r4 * r2 - (127.0 / 30720.0) * r4 * r4);
}

}  // namespace spmcompat
