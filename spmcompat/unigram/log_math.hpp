// Sums of probabilities in the logarithm, rounded as the reference rounds them.
//
// sentencepiece 0.2.3 computes in double with the library's exp and log1p and rounds to float
// once. Nearly always a cheap approximation with a proven bound rounds to the same float: the
// value minus and plus the bound are both rounded, and where they agree the float between them
// is certain (Ziv 1991, "Fast evaluation of elementary mathematical functions with correctly
// rounded last bit"). Where they differ, the reference's own expression is computed.
//
// The bounds. Both tables are polynomials of degree three through the Chebyshev nodes of cells
// of width h, so the error in a cell is at most max|f''''| / 4! * 2 (h/4)^4.
// - log1p(exp(d)) on [-24, 0], h = 1/16: |f''''| <= 1/8, so 6.3e-10; below -24 it is taken as 0,
//   off by less than 3.8e-11.
// - exp(r) on |r| <= ln 2 / 64 around the table of 2^(k/32): f'''' = exp(r) <= 1.011 and
//   h = ln 2 / 32, so 7.3e-11, relative to the power of two.
// Added are the roundings of the evaluation itself (below 1e-15 relative to each term), the
// error of the library's functions (below 1e-15 of their value) and the rounding of the
// reference's last addition in double (2^-53 of the sum): the slack is doubled where it is
// absolute, and relative to the sum where the sum may be large.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

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

using Cubic = std::array<double, 4>;  // coefficients, the constant first

// The polynomial through f at the four Chebyshev nodes of [center - h/2, center + h/2], as a
// polynomial in (x - center).
template <typename Function>
Cubic fit_cubic(Function f, double center, double h) {
  double x[4], c[4];
  for (int i = 0; i < 4; ++i) {
    x[i] = h / 2 * std::cos(M_PI * (2 * i + 1) / 8);
    c[i] = f(center + x[i]);
  }
  for (int order = 1; order < 4; ++order) {  // Newton's divided differences
    for (int i = 3; i >= order; --i) c[i] = (c[i] - c[i - 1]) / (x[i] - x[i - order]);
  }
  Cubic p{c[3], 0, 0, 0};
  for (int i = 2; i >= 0; --i) {  // p = p * (x - x[i]) + c[i]
    for (int k = 3; k > 0; --k) p[k] = p[k - 1] - x[i] * p[k];
    p[0] = c[i] - x[i] * p[0];
  }
  return p;
}

struct LogMathTables {
  static constexpr int kCells = 24 * 16;
  static constexpr int kPowers = 32;

  LogMathTables() {
    for (int i = 0; i < kCells; ++i) {
      soft_plus[i] = fit_cubic([](double d) { return std::log1p(std::exp(d)); },
                               -(i + 0.5) / 16, 1.0 / 16);
    }
    for (int k = 0; k < kPowers; ++k) power[k] = std::exp2(static_cast<double>(k) / kPowers);
    exp = fit_cubic([](double r) { return std::exp(r); }, 0, M_LN2 / kPowers);
  }

  std::array<Cubic, kCells> soft_plus;  // of d in (-(i + 1) / 16, -i / 16]
  std::array<double, kPowers> power;
  Cubic exp;
};

inline const LogMathTables kLogMath;

inline double evaluate(const Cubic& p, double x) {
  return (p[0] + p[1] * x) + (p[2] + p[3] * x) * (x * x);
}

// Equal to exact::log_sum_exp for all finite arguments, and for x = -inf.
inline float log_sum_exp(float x, float y) {
  const float low = std::min(x, y);
  const float high = std::max(x, y);
  const float d = low - high;
  // Beside a sum of 0 even exp(-50) shows; -51 leaves room for the rounding of the cut at 50.
  if (!(d > -24.0f)) return d > -51.0f ? exact::log_sum_exp(x, y) : high;
  const int cell = static_cast<int>(d * -16.0f);
  const double soft_plus =
      evaluate(kLogMath.soft_plus[cell], static_cast<double>(d) + (cell + 0.5) / 16);
  const double sum = high + soft_plus;
  const double slack = 1.3e-9 + std::fabs(sum) * 1e-15;
  const float below = static_cast<float>(sum - slack);
  const float above = static_cast<float>(sum + slack);
  return below == above ? below : exact::log_sum_exp(x, y);
}

// Equal to exact::add_exp for sum >= 0 and 0 < frequency < 2^64.
inline float add_exp(float sum, float frequency, float x) {
  if (!(x < 80.0f)) return exact::add_exp(sum, frequency, x);
  // Then the term is below 2^64 exp(-200) < 2^-224, no part of any float.
  if (x < -200.0f) return sum;
  const double scaled = x * (LogMathTables::kPowers / M_LN2);
  const double nearest = scaled + 0x1.8p52;  // rounds to a whole number, in the low bits
  int64_t k;
  std::memcpy(&k, &nearest, 8);
  k -= 0x4338000000000000;
  const double r = (scaled - (nearest - 0x1.8p52)) * (M_LN2 / LogMathTables::kPowers);
  const int64_t exponent = (k >> 5) << 52;
  int64_t bits;
  std::memcpy(&bits, &kLogMath.power[k & 31], 8);
  bits += exponent;
  double power;
  std::memcpy(&power, &bits, 8);
  const double term = frequency * (power * evaluate(kLogMath.exp, r));
  const double total = sum + term;
  const double slack = term * 1e-10 + total * 1e-15;
  const float below = static_cast<float>(total - slack);
  const float above = static_cast<float>(total + slack);
  return below == above ? below : exact::add_exp(sum, frequency, x);
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
