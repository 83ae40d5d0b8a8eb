// What the E-step spends its time in. processors.hpp includes this file once for each kind of
// processor, into a namespace of its own, and tells with SPMCOMPAT_WITH_AVX2 which one it is:
// compilers need not define __AVX2__ for a part of a file. Nothing of the standard library is used
// here but what is compiled into its caller: else code for one processor could be shared with
// another.

namespace spmcompat::SPMCOMPAT_PROCESSOR {

#if SPMCOMPAT_WITH_AVX2
SPMCOMPAT_INLINE Float4 lesser(const Float4& x, const Float4& y) { return _mm_min_ps(x, y); }
SPMCOMPAT_INLINE Float4 greater(const Float4& x, const Float4& y) { return _mm_max_ps(x, y); }
SPMCOMPAT_INLINE Double4 to_double(const Float4& x) { return _mm256_cvtps_pd(x); }
SPMCOMPAT_INLINE bool differ(const Float4& x, const Float4& y) {
  return _mm_movemask_ps(_mm_cmpneq_ps(x, y)) != 0;
}
#else
SPMCOMPAT_INLINE Float4 lesser(const Float4& x, const Float4& y) { return x < y ? x : y; }
SPMCOMPAT_INLINE Float4 greater(const Float4& x, const Float4& y) { return x < y ? y : x; }
SPMCOMPAT_INLINE Double4 to_double(const Float4& x) { return __builtin_convertvector(x, Double4); }
SPMCOMPAT_INLINE bool differ(const Float4& x, const Float4& y) {
  const Long2 unequal = bits_as<Long2>(x != y);
  return (unequal[0] | unequal[1]) != 0;
}
#endif

SPMCOMPAT_INLINE Double4 magnitude(const Double4& x) {
  return bits_as<Double4>(bits_as<Long4>(x) & INT64_MAX);
}

SPMCOMPAT_INLINE Double4 load_halves(const double* low, const double* high) {
  Double2 a, b;
  std::memcpy(&a, low, sizeof a);
  std::memcpy(&b, high, sizeof b);
  return __builtin_shufflevector(a, b, 0, 1, 2, 3);
}

// log1p(exp(d)) for d in [-24, 0].
SPMCOMPAT_INLINE Double4 soft_plus(const Float4& d) {
  const Int4 cell = __builtin_convertvector(d * -16.0f, Int4);
  const double* row0 = kLogMath.soft_plus[cell[0]];
  const double* row1 = kLogMath.soft_plus[cell[1]];
  const double* row2 = kLogMath.soft_plus[cell[2]];
  const double* row3 = kLogMath.soft_plus[cell[3]];
  // Rows become columns.
  const Double4 even = load_halves(row0, row2), odd = load_halves(row1, row3);
  const Double4 even2 = load_halves(row0 + 2, row2 + 2), odd2 = load_halves(row1 + 2, row3 + 2);
  const Double4 c0 = __builtin_shufflevector(even, odd, 0, 4, 2, 6);
  const Double4 c1 = __builtin_shufflevector(even, odd, 1, 5, 3, 7);
  const Double4 c2 = __builtin_shufflevector(even2, odd2, 0, 4, 2, 6);
  const Double4 c3 = __builtin_shufflevector(even2, odd2, 1, 5, 3, 7);
  const Double4 x = to_double(d);
  return (c0 + c1 * x) + (c2 + c3 * x) * (x * x);
}

// Equal to one of exact_log_sum_exp, each for itself, for finite arguments and for x = -inf.
SPMCOMPAT_INLINE Float4 log_sum_exp(const Float4& x, const Float4& y, LogSumExp exact) {
  const Float4 high = greater(x, y);
  const Float4 d = greater(lesser(x, y) - high, Float4{-24.0f, -24.0f, -24.0f, -24.0f});
  const Double4 base = to_double(high);
  const Double4 sum = base + soft_plus(d);
  const Double4 slack = magnitude(base) * 1.2e-15 + 1.4e-9;
  const Float4 below = __builtin_convertvector(sum - slack, Float4);
  const Float4 above = __builtin_convertvector(sum + slack, Float4);
  if (__builtin_expect(!differ(below, above), 1)) return below;
  Float4 result = below;
  for (int i = 0; i < 4; ++i) {
    if (below[i] != above[i]) result[i] = exact(x[i], y[i]);
  }
  return result;
}

// What of a double is cut off when it is rounded to float, and where it is rounded up.
constexpr uint32_t kTail = (1u << 29) - 1;
constexpr uint32_t kMiddle = 1u << 28;

// frequency * exp(x) for 0 < frequency < 2^64, off by less than 2^-39 of it; for x out of range
// a NaN that add_exp takes for a case of doubt.
SPMCOMPAT_INLINE Double4 exp_terms(float frequency, const Float4& x) {
  const Double4 wide = to_double(x);
  const Double4 scaled = wide * (1 / M_LN2);
  const Double4 nearest = scaled + 0x1.8p52;  // rounds to a whole number, in the low bits
  const Double4 power = bits_as<Double4>((bits_as<Long4>(nearest) + 1023) << 52);
  const Double4 r = (scaled - (nearest - 0x1.8p52)) * M_LN2;
  const Double4 r2 = r * r;
  const Double4 r4 = r2 * r2;
  const double* c = kLogMath.exp;
  const Double4 low = (c[0] + c[1] * r) + (c[2] + c[3] * r) * r2;
  const Double4 high = (c[4] + c[5] * r) + (c[6] + c[7] * r) * r2 + c[8] * r4;
  const Double4 term = (power * static_cast<double>(frequency)) * (low + high * r4);
  const Long4 inside = magnitude(wide) < 80.0;
  return bits_as<Double4>((bits_as<Long4>(term) & inside) |
                          (int64_t{0x7ff8000000000000 | kMiddle} & ~inside));
}

// Out of the way: inlined, the call takes registers from the loop around it.
[[gnu::noinline, gnu::cold]] inline float add_exp_in_doubt(float sum, float frequency, float x) {
  return exact::add_exp(sum, frequency, x);
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
  return add_exp_in_doubt(sum, frequency, x);
}

// Passes a node, and returns it.
template <typename Direction>
SPMCOMPAT_INLINE const ChainNode& pass(const Sums& sums, SideBySide<Direction>& tracks, size_t i) {
  const ChainNode& node = sums.pieces[piece_of(tracks.here[i])];
  const size_t at = tracks.at[i] + ends_chain(node);
  const uint32_t top = sums.tops[at];
  tracks.here[i] = ends_chain(node) ? top : node.prefix;
  tracks.at[i] = at;
  return node;
}

// One step in four tracks.
SPMCOMPAT_INLINE void step(const Sums& sums, SideBySide<Listing>& tracks, size_t first, size_t k) {
  for (size_t i = first; i < first + 4; ++i) {
    tracks.nodes[i][k] = tracks.here[i];
    pass(sums, tracks, i);
  }
}

SPMCOMPAT_INLINE void step(const Sums& sums, SideBySide<BestForward>& tracks, size_t first,
                           size_t) {
  for (size_t i = first; i < first + 4; ++i) {
    const uint32_t piece = piece_of(tracks.here[i]);
    PathStep* const begin = sums.steps + tracks.at[i];
    const ChainNode& node = pass(sums, tracks, i);
    PathStep& end = begin[node.length];
    const float score = begin->best + node.score;
    const float tolerance = 2.5e-7f * ((score < 0 ? -score : score) + sums.margin);
    // Without a branch, as it would be a guess.
    const uint32_t near = end.best >= score - tolerance ? PathStep::kNear : 0;
    const uint32_t better = -static_cast<uint32_t>(!(score <= end.best));
    end.piece = ((piece | near) & better) | (end.piece & ~better);
    end.best = end.best > score ? end.best : score;
  }
}

SPMCOMPAT_INLINE void step(const Sums& sums, SideBySide<Forward>& tracks, size_t first, size_t k) {
  float term[4];
  float* end[4];
  for (size_t i = 0; i < 4; ++i) {
    float* const begin = sums.alpha + tracks.at[first + i];
    tracks.nodes[first + i][k] = tracks.here[first + i];
    const ChainNode& node = pass(sums, tracks, first + i);
    term[i] = *begin + node.score;
    end[i] = begin + node.length;
  }
  const Float4 sum = log_sum_exp(Float4{*end[0], *end[1], *end[2], *end[3]},
                                 Float4{term[0], term[1], term[2], term[3]}, sums.exact);
  for (int i = 0; i < 4; ++i) *end[i] = sum[i];
}

SPMCOMPAT_INLINE void step(const Sums& sums, SideBySide<Backward>& tracks, size_t first,
                           size_t k) {
  float term[4];
  float* begin[4];
  for (size_t i = 0; i < 4; ++i) {
    const uint32_t here = *(tracks.nodes[first + i] - k);
    const ChainNode& node = sums.pieces[piece_of(here)];
    size_t& at = tracks.at[first + i];
    const float beta = sums.beta[at + node.length];
    term[i] = node.score + beta;
    *(tracks.x[first + i] - k) = ((sums.alpha[at] + node.score) + beta) - tracks.z[first + i];
    begin[i] = sums.beta + at;
    at -= is_first(here);
  }
  const Float4 sum = log_sum_exp(Float4{*begin[0], *begin[1], *begin[2], *begin[3]},
                                 Float4{term[0], term[1], term[2], term[3]}, sums.exact);
  for (int i = 0; i < 4; ++i) *begin[i] = sum[i];
}

// The steps [first, last) of all tracks.
template <typename Direction>
SPMCOMPAT_INLINE void steps(const Sums& sums, SideBySide<Direction>& tracks, size_t first,
                            size_t last) {
  for (size_t k = first; k < last; ++k) {
    for (size_t i = 0; i < Direction::kWidth; i += 4) step(sums, tracks, i, k);
  }
}

inline void follow(const Sums& sums, SideBySide<Listing>& tracks, size_t first, size_t last) {
  steps(sums, tracks, first, last);
}
inline void follow(const Sums& sums, SideBySide<BestForward>& tracks, size_t first, size_t last) {
  steps(sums, tracks, first, last);
}
inline void follow(const Sums& sums, SideBySide<Forward>& tracks, size_t first, size_t last) {
  steps(sums, tracks, first, last);
}
inline void follow(const Sums& sums, SideBySide<Backward>& tracks, size_t first, size_t last) {
  steps(sums, tracks, first, last);
}

// From the logarithms of shares to the terms of expected counts, four at a time: both arrays have
// room for that.
inline void to_terms(const float* x, size_t size, float frequency, double* terms) {
  for (size_t i = 0; i < size; i += 4) {
    Float4 four;
    std::memcpy(&four, x + i, sizeof four);
    const Double4 term = exp_terms(frequency, four);
    std::memcpy(terms + i, &term, sizeof term);
  }
}

// Adds the shares of a word's nodes to the counts of their pieces; those from `unknown` on are the
// unknown piece.
inline void add_shares(const uint32_t* nodes, size_t size, const float* x, const double* terms,
                       float frequency, uint32_t unknown, float* expected) {
  const auto add = [=](size_t k, uint32_t piece) {
    expected[piece] = add_exp(expected[piece], terms[k], frequency, x[k]);
  };
  for (size_t k = 0; k < size; ++k) {
    __builtin_prefetch(expected + piece_of(nodes[k + kNodesAhead]));
    const uint32_t piece = piece_of(nodes[k]);
    if (__builtin_expect(piece < unknown, 1)) {
      add(k, piece);
      continue;
    }
    // It counts for the piece of id 0, which may begin here too and then comes before.
    const size_t first = k;
    for (; k + 1 < size && !is_first(nodes[k + 1]); ++k) add(k + 1, piece_of(nodes[k + 1]));
    add(first, 0);
  }
}

// Over arrays, for tests.
inline void log_sum_exp_arrays(const float* x, const float* y, LogSumExp exact, float* sums,
                               size_t size) {
  for (size_t i = 0; i < size; i += 4) {
    const size_t left = size - i < 4 ? size - i : 4;
    Float4 a{}, b{};
    std::memcpy(&a, x + i, left * sizeof(float));
    std::memcpy(&b, y + i, left * sizeof(float));
    const Float4 sum = log_sum_exp(a, b, exact);
    std::memcpy(sums + i, &sum, left * sizeof(float));
  }
}
inline void add_exp_arrays(const float* sums, const float* frequencies, const float* x,
                           float* new_sums, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    const Double4 terms = exp_terms(frequencies[i], Float4{x[i], 0, 0, x[i]});
    new_sums[i] = add_exp(sums[i], terms[i % 2 * 3], frequencies[i], x[i]);
  }
}

}  // namespace spmcompat::SPMCOMPAT_PROCESSOR
