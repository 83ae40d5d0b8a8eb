// Sums of probabilities in the logarithm, with the reference's widths and order of rounding.
#pragma once

#include <algorithm>
#include <cmath>

namespace spmcompat {

// log(exp(x) + exp(y)) as sentencepiece 0.2.3 rounds it: the difference in float, exp and log1p
// in double, one rounding to float; the larger alone when the other is below it by over 50.
inline float log_sum_exp(float x, float y) {
  const float low = std::min(x, y);
  const float high = std::max(x, y);
  if (high > low + 50.0f) return high;
  return static_cast<float>(high + std::log1p(std::exp(static_cast<double>(low - high))));
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
