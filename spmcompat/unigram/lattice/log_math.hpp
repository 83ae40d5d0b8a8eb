// log(exp(x) + exp(y)), sum + frequency * exp(x), and digamma, rounded as in the reference.
//
// The reference computes in double with the C library's exp and log1p (or log), and rounds to float
// once. A cheap approximation with a proven error bound nearly always rounds to the same float, and
// a check of the error bound shows whether this is certain (Ziv 1991, "Fast evaluation of
// elementary mathematical functions with correctly rounded last bit"). If it is not certain, the
// reference's own expression is computed. The approximations are in kernels.hpp, because they work
// on four values at a time.
//
// The error bounds. Both approximations are polynomials that equal the function f at the Chebyshev
// nodes of an interval (cell) of width h; with n coefficients, the error is at most
// max|f^(n)| / n! * 2 (h/4)^n.
// - log1p(exp(d)) on [-24, 0], h = 1/16, n = 4: |f^(4)| <= 1/8, so 6.3e-10. Below -24, the value at
//   -24 is used: an error of less than 3.8e-11. The older expression, log(exp(d) + 1), differs only
//   in the rounding of its argument, which is between 1 and 2: an error of less than 2^-53.
// - exp(r) on |r| <= ln 2 / 2, n = 9: exp(r) <= 1.42, so 1.1e-12, and relative to exp(r) 1.6e-12.
//
// Three more errors are added to these:
// - the roundings of the evaluation itself: 1e-15 for the cubics, because none of their terms is
//   above 1; and 2^-46 for the reduction of the argument of exp, which is below 2^7;
// - the error of the C library's functions, below 1e-15 of their value;
// - the rounding of the reference's last addition in double, 2^-53 of the sum.
// The checks allow at least twice the sum of all these errors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace spmcompat {

constexpr double kPi = 3.14159265358979323846;
constexpr double kLn2 = 0.69314718055994530942;

// The expressions of the reference, with the same rounding.
namespace exact {

// Returns log(exp(x) + exp(y)). Subtracts x and y in float, computes everything else in double, and
// rounds the result to float. If x and y are more than 50 apart, returns the larger one.
template <double (*kLog1p)(double)>
float log_sum_exp(float x, float y) {
  const float low = std::min(x, y);
  const float high = std::max(x, y);
  if (high > low + 50.0f) return high;
  return static_cast<float>(high + kLog1p(std::exp(static_cast<double>(low - high))));
}

inline double log1p(double x) { return std::log1p(x); }
inline double log_of_sum(double x) { return std::log(x + 1.0); }

// sum + frequency * exp(x): computes product and sum in double, and rounds only the sum to float.
inline float add_exp(float sum, float frequency, float x) {
  return static_cast<float>(sum + frequency * std::exp(static_cast<double>(x)));
}

}  // namespace exact

using LogSumExp = float (*)(float x, float y);

// Release 0.2.3 calls log1p(x) of the C library; earlier releases call log(x + 1).
inline LogSumExp exact_log_sum_exp(bool with_log1p) {
  return with_log1p ? exact::log_sum_exp<exact::log1p> : exact::log_sum_exp<exact::log_of_sum>;
}

// Fills p with the coefficients, constant first, of the polynomial that equals f at the Chebyshev
// nodes of [center - h/2, center + h/2].
template <size_t N, typename Function>
void fit(Function f, double center, double h, double* p) {
  double x[N], c[N];
  std::fill_n(p, N, 0.0);
  for (size_t i = 0; i < N; ++i) {
    x[i] = center + h / 2 * std::cos(kPi * (2 * i + 1) / (2 * N));
    c[i] = f(x[i]);
  }
  for (size_t order = 1; order < N; ++order) {  // Newton's divided differences
    for (size_t i = N - 1; i >= order; --i) c[i] = (c[i] - c[i - 1]) / (x[i] - x[i - order]);
  }
  for (size_t i = N; i-- > 0;) {  // p = p * (x - x[i]) + c[i]
    for (size_t k = N - 1; k > 0; --k) p[k] = p[k - 1] - x[i] * p[k];
    p[0] = c[i] - x[i] * p[0];
  }
}

struct LogMathTables {
  static constexpr int kCells = 24 * 16 + 1;

  LogMathTables() {
    const auto f = [](double d) { return std::log1p(std::exp(d)); };
    for (int i = 0; i < kCells; ++i) fit<4>(f, -(i + 0.5) / 16, 1.0 / 16, soft_plus[i]);
    fit<9>([](double r) { return std::exp(r); }, 0, kLn2, exp);
  }

  double soft_plus[kCells][4];  // log1p(exp(d)); cell i is for d in (-(i + 1) / 16, -i / 16]
  double exp[9];
};

inline const LogMathTables kLogMath;

// The digamma function in double, as the reference computes it: first the recurrence raises the
// argument to 7 or more, then the asymptotic series is evaluated at x - 1/2.
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
