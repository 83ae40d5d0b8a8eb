// exp, log and log1p with the same bits on every platform.
//
// C libraries differ in the last bits of these functions, and a model's bytes are those of
// sentencepiece on x86-64 Linux, where glibc computes them with fused multiply-add. There the
// functions of glibc are called. Elsewhere the functions of this file are: they have the algorithms
// of glibc 2.36, with all roundings and fused operations of its x86-64 build.
// - exp and log: S. Nagy's, of Arm's Optimized Routines. A table holds 2^(i/128), or 1/c and log(c)
//   of numbers c, and a polynomial does the rest.
// - log1p: Sun's. 1 + x is 2^k (1 + f), and log(1 + f) is a polynomial of f / (2 + f).
// Tests compare all bits with those of glibc. NOTICE names the authors of both algorithms.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "spmcompat/functions/tables.hpp"
#include "spmcompat/platform.hpp"

namespace spmcompat::fixed {

#define SPMCOMPAT_STEPS [[gnu::always_inline]] inline

template <typename To, typename From>
SPMCOMPAT_STEPS To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

SPMCOMPAT_STEPS double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr uint64_t kExponentOne = uint64_t{1} << 52;

// scale * (1 + tail), where the exponent of scale may be out of range by up to 460.
SPMCOMPAT_STEPS double scaled_out_of_range(double tail, uint64_t scale_bits, bool large) {
  if (large) {
    const double scale = bit_cast<double>(scale_bits - 1009 * kExponentOne);
    return 0x1p1009 * fma(scale, tail, scale);
  }
  const double scale = bit_cast<double>(scale_bits + 1022 * kExponentOne);
  const double product = scale * tail;
  double y = scale + product;
  if (y < 1.0) {  // denormal: rounded once, to the bits that it has
    const double lost = scale - y + product;
    const double high = 1.0 + y;
    y = (high + (1.0 - high + y + lost)) - 1.0;
  }
  return 0x1p-1022 * y;
}

SPMCOMPAT_STEPS double exp_steps(double x) {
  const double size = std::fabs(x);
  if (!(size >= 0x1p-54 && size < 512)) {
    if (!(size >= 0x1p-54)) return 1.0 + x;  // also for a NaN
    if (size >= 1024) return x > 0 ? kInfinity : 0.0;
  }
  // x is k ln 2 / 128 + r.
  const double shifted = fma(0x1.71547652b82fep7, x, 0x1.8p52);
  const uint64_t k = bit_cast<uint64_t>(shifted);
  const double whole = shifted - 0x1.8p52;
  const double r = fma(whole, -0x1.cf79abc9e3b3ap-47, fma(whole, -0x1.62e42fefa0000p-8, x));
  const PowerOfTwo& power = kPowersOfTwo[k % 128];
  const uint64_t scale_bits = power.high + (k << 45);
  const double r2 = r * r;
  const double even = fma(r, 0x1.555555555543cp-3, 0x1.ffffffffffdbdp-2);
  const double odd = fma(r, 0x1.1111167a4d017p-7, 0x1.55555cf172b91p-5);
  const double tail = fma(r2 * r2, odd, fma(r2, even, bit_cast<double>(power.low) + r));
  if (size >= 512) return scaled_out_of_range(tail, scale_bits, x > 0);
  const double scale = bit_cast<double>(scale_bits);
  return fma(scale, tail, scale);
}

// log(1 + r) for 1 + r in [1 - 2^-4, 1 + 0x1.09p-4).
SPMCOMPAT_STEPS double log_near_one(double r) {
  const double r2 = r * r;
  const double r3 = r * r2;
  const double p7 = fma(r3, -0x1.5521375d145cdp-4,
                        fma(r2, 0x1.78182f7afd085p-4,
                            fma(r, -0x1.999eb43b068ffp-4, 0x1.c7184282ad6cap-4)));
  const double p4 = fma(r3, p7, fma(r2, -0x1.fffffa4423d65p-4,
                                    fma(r, 0x1.24924a344de3p-3, -0x1.55555556745a7p-3)));
  const double p1 = fma(r3, p4, fma(r2, 0x1.999999995dd0cp-3,
                                    fma(r, -0x1.ffffffffffdcbp-3, 0x1.5555555555577p-2)));
  // r - r^2 / 2, in two parts.
  const double w = r * 0x1p27;
  const double r_high = r + w - w;
  const double r_low = r - r_high;
  const double square = r_high * r_high * -0.5;
  const double high = r + square;
  const double low = fma(-0.5 * r_low, r_high + r, r - high + square);
  return fma(r3, p1, low) + high;
}

SPMCOMPAT_STEPS double log_steps(double x) {
  if (x >= 1.0 - 0x1p-4 && x < 1.0 + 0x1.09p-4) return x == 1.0 ? 0.0 : log_near_one(x - 1.0);
  if (!(x > 0 && x < kInfinity)) {
    return x == 0 ? -kInfinity : x > 0 ? x : std::numeric_limits<double>::quiet_NaN();
  }
  uint64_t bits = bit_cast<uint64_t>(x);
  if (x < 0x1p-1022) bits = bit_cast<uint64_t>(x * 0x1p52) - 52 * kExponentOne;
  // x is 2^k z.
  const uint64_t offset = bits - bit_cast<uint64_t>(0x1.6p-1);
  const Logarithm& c = kLogarithms[offset >> 45 & 127];
  const double k = static_cast<double>(static_cast<int64_t>(offset) >> 52);
  const double z = bit_cast<double>(bits - (offset & ~(kExponentOne - 1)));
  const double r = fma(z, c.inverse, -1.0);
  const double w = fma(k, 0x1.62e42fefa3800p-1, c.log);
  const double high = w + r;
  const double low = fma(k, 0x1.ef35793c76730p-45, w - high + r);
  const double r2 = r * r;
  const double p = fma(r2, fma(r, -0x1.55575e506c89fp-3, 0x1.999b324f10111p-3),
                       fma(r, -0x1.fffffffeb459p-3, 0x1.555555551305bp-2));
  return fma(r * r2, p, fma(r2, -0x1.0000000000001p-1, low)) + high;
}

SPMCOMPAT_STEPS float log_steps(float x) {
  if (x == 1.0f) return 0.0f;
  if (!(x > 0 && x < std::numeric_limits<float>::infinity())) {
    return x == 0 ? -std::numeric_limits<float>::infinity()
           : x > 0 ? x : std::numeric_limits<float>::quiet_NaN();
  }
  uint32_t bits = bit_cast<uint32_t>(x);
  if (x < 0x1p-126f) bits = bit_cast<uint32_t>(x * 0x1p23f) - (23u << 23);
  const uint32_t offset = bits - bit_cast<uint32_t>(0x1.66p-1f);
  const Logarithm& c = kFloatLogarithms[offset >> 19 & 15];
  const double k = static_cast<int32_t>(offset) >> 23;
  const double z = bit_cast<float>(bits - (offset & 0xff800000u));
  const double r = fma(z, c.inverse, -1.0);
  const double high = fma(k, 0x1.62e42fefa39efp-1, c.log) + r;
  const double r2 = r * r;
  const double p = fma(r2, -0x1.00ea348b88334p-2,
                       fma(r, 0x1.5575b0be00b6ap-2, -0x1.ffffef20a4123p-2));
  return static_cast<float>(fma(p, r2, high));
}

// For x from 0 to 1.
SPMCOMPAT_STEPS double log1p_steps(double x) {
  constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
  constexpr uint64_t kHighBits = 0xffffffff00000000;
  if (x < 0x1p-54) return x;
  if (x < 0x1p-29) return x - x * x * 0.5;
  double k = 0, f = x, correction = 0;
  bool small = false;  // whether f is below 2^-20
  if (bit_cast<uint64_t>(x) >= 0x3fda827a00000000) {
    const double u = 1.0 + x;
    const uint64_t bits = bit_cast<uint64_t>(u);
    const uint64_t mantissa = bits & (kExponentOne - 1);
    k = u < 2 ? 0 : 1;
    correction = (u < 2 ? x - (u - 1.0) : 1.0 - (u - x)) / u;
    if ((mantissa & kHighBits) < 0x6a09e00000000) {
      f = bit_cast<double>(mantissa | bit_cast<uint64_t>(1.0)) - 1.0;
      small = mantissa >> 32 == 0;
    } else {
      k += 1;
      f = bit_cast<double>(mantissa | bit_cast<uint64_t>(0.5)) - 1.0;
      small = (0x100000 - (mantissa >> 32)) >> 2 == 0;
    }
  }
  const double half_square = 0.5 * f * f;
  if (small) {
    if (f == 0) return fma(k, kLn2High, fma(k, kLn2Low, correction));
    const double factor = fma(-0.66666666666666666, f, 1.0);
    const double rest = fma(half_square, factor, -fma(k, kLn2Low, correction));
    return fma(k, kLn2High, -(rest - f));
  }
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double z2 = z * z;
  const double z4 = z2 * z2;
  const double p2 = fma(z, 0x1.2492494229359p-2, 0x1.999999997fa04p-2);
  const double p4 = fma(z, 0x1.7466496cb03dep-3, 0x1.c71c51d8e78afp-3);
  const double p6 = fma(z, 0x1.2f112df3e5244p-3, 0x1.39a09d078c69fp-3);
  const double sum = fma(z4 * z2, p6, fma(z4, p4, fma(z, 0x1.5555555555593p-1, z2 * p2)));
  const double product = s * (half_square + sum);
  if (k == 0) return f - (half_square - product);
  const double rest = half_square - (product + fma(k, kLn2Low, correction));
  return fma(k, kLn2High, -(rest - f));
}

#if defined(__x86_64__) && !defined(__FMA__)
// Most processors have the instruction, but not every x86-64 has it.
#define SPMCOMPAT_FUNCTION(Number, name)                                                     \
  [[gnu::target("fma")]] inline Number name##_with_fma(Number x) { return name##_steps(x); } \
  inline Number name(Number x) {                                                             \
    return __builtin_cpu_supports("fma") ? name##_with_fma(x) : name##_steps(x);             \
  }
#else
#define SPMCOMPAT_FUNCTION(Number, name) \
  inline Number name(Number x) { return name##_steps(x); }
#endif

SPMCOMPAT_FUNCTION(double, exp)
SPMCOMPAT_FUNCTION(double, log)
SPMCOMPAT_FUNCTION(float, log)
SPMCOMPAT_FUNCTION(double, log1p)

#undef SPMCOMPAT_FUNCTION
#undef SPMCOMPAT_STEPS

}  // namespace spmcompat::fixed

// The functions that decide bytes.
namespace spmcompat::functions {

#if defined(__x86_64__) && defined(__GLIBC__)
using std::exp;
using std::log;
using std::log1p;
#else
using fixed::exp;
using fixed::log;
using fixed::log1p;
#endif

}  // namespace spmcompat::functions
