// The kernels of the lattice passes, where the E-step spends its time. processors.hpp includes this
// file twice, each time in another namespace: for any processor, and for processors with AVX2. The
// macro SPMCOMPAT_WITH_AVX2 distinguishes the two. (Compilers need not define __AVX2__ if AVX2 is
// only enabled for a part of a file.) The kernels may only call functions of the standard library
// that are always inlined. Otherwise, the linker could use a function that was compiled for AVX2 in
// the code for other processors, too.

namespace spmcompat::SPMCOMPAT_PROCESSOR {

template <typename To, typename From>
SPMCOMPAT_INLINE To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

#if SPMCOMPAT_WITH_AVX2
SPMCOMPAT_INLINE Float4 lesser(const Float4& x, const Float4& y) { return _mm_min_ps(x, y); }
SPMCOMPAT_INLINE Float4 greater(const Float4& x, const Float4& y) { return _mm_max_ps(x, y); }
SPMCOMPAT_INLINE Double4 to_double(const Float4& x) { return _mm256_cvtps_pd(x); }
SPMCOMPAT_INLINE bool differ(const Float4& x, const Float4& y) {
  return _mm_movemask_ps(_mm_cmpneq_ps(x, y)) != 0;
}
SPMCOMPAT_INLINE Double4 load_halves(const double* low, const double* high) {
  return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(low)), _mm_loadu_pd(high), 1);
}
SPMCOMPAT_INLINE Double4 interleave_even(const Double4& x, const Double4& y) {
  return _mm256_unpacklo_pd(x, y);
}
SPMCOMPAT_INLINE Double4 interleave_odd(const Double4& x, const Double4& y) {
  return _mm256_unpackhi_pd(x, y);
}
#else
// Like the instructions minps and maxps, these functions return y if an element is a NaN.
SPMCOMPAT_INLINE Float4 lesser(const Float4& x, const Float4& y) { return x < y ? x : y; }
SPMCOMPAT_INLINE Float4 greater(const Float4& x, const Float4& y) { return x > y ? x : y; }
SPMCOMPAT_INLINE Double4 to_double(const Float4& x) { return __builtin_convertvector(x, Double4); }
SPMCOMPAT_INLINE bool differ(const Float4& x, const Float4& y) {
  const Long2 unequal = bits_as<Long2>(x != y);
  return (unequal[0] | unequal[1]) != 0;
}
SPMCOMPAT_INLINE Double4 load_halves(const double* low, const double* high) {
  return Double4{low[0], low[1], high[0], high[1]};
}
// Returns x[0], y[0], x[2], y[2].
SPMCOMPAT_INLINE Double4 interleave_even(const Double4& x, const Double4& y) {
  return Double4{x[0], y[0], x[2], y[2]};
}
// Returns x[1], y[1], x[3], y[3].
SPMCOMPAT_INLINE Double4 interleave_odd(const Double4& x, const Double4& y) {
  return Double4{x[1], y[1], x[3], y[3]};
}
#endif

SPMCOMPAT_INLINE Double4 magnitude(const Double4& x) {
  return bits_as<Double4>(bits_as<Long4>(x) & INT64_MAX);
}

// log1p(exp(d)) for d in [-24, 0].
SPMCOMPAT_INLINE Double4 soft_plus(const Float4& d) {
  const Int4 cell = __builtin_convertvector(d * -16.0f, Int4);
  const double* row0 = kLogMath.soft_plus[cell[0]];
  const double* row1 = kLogMath.soft_plus[cell[1]];
  const double* row2 = kLogMath.soft_plus[cell[2]];
  const double* row3 = kLogMath.soft_plus[cell[3]];
  // Transposes the rows, each of which contains the coefficients of a cubic: c0 contains the
  // constant terms of the four cubics, c1 their linear coefficients, and so on.
  const Double4 even = load_halves(row0, row2), odd = load_halves(row1, row3);
  const Double4 even2 = load_halves(row0 + 2, row2 + 2), odd2 = load_halves(row1 + 2, row3 + 2);
  const Double4 c0 = interleave_even(even, odd), c1 = interleave_odd(even, odd);
  const Double4 c2 = interleave_even(even2, odd2), c3 = interleave_odd(even2, odd2);
  const Double4 x = to_double(d);
  return (c0 + c1 * x) + (c2 + c3 * x) * (x * x);
}

// Returns the same bits as `exact` in every element, for finite arguments and for x = -inf. `exact`
// is a function that exact_log_sum_exp has returned.
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

// The bits of a double's mantissa that rounding to float removes.
constexpr uint32_t kTail = (1u << 29) - 1;
// The value of the bits of kTail if the double is exactly halfway between two floats.
constexpr uint32_t kMiddle = 1u << 28;

// frequency * exp(x) for 0 < frequency < 2^64, with a relative error below 2^-39. If |x| >= 80, or
// x is a NaN, the result is a NaN whose low bits make add_exp compute the exact expression.
SPMCOMPAT_INLINE Double4 exp_terms(float frequency, const Float4& x) {
  const Double4 wide = to_double(x);
  const Double4 scaled = wide * (1 / kLn2);
  const Double4 nearest = scaled + 0x1.8p52;  // the low bits contain the nearest whole number
  const Double4 power = bits_as<Double4>((bits_as<Long4>(nearest) + 1023) << 52);
  const Double4 r = (scaled - (nearest - 0x1.8p52)) * kLn2;
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

// This function is not inlined: its code would take registers from the loop that calls add_exp.
[[gnu::noinline, gnu::cold]] inline float add_exp_in_doubt(float sum, float frequency, float x) {
  return exact::add_exp(sum, frequency, x);
}

// Equals exact::add_exp(sum, frequency, x) for sum >= 0; `term` is the result of exp_terms.
SPMCOMPAT_INLINE float add_exp(float sum, double term, float frequency, float x) {
  // The relative error of the total is below 2^-39, which is 2^14 units in the last place of a
  // double. The rounding to float is in doubt if the distance between the total and the midpoint of
  // two floats is at most four times this error. Rounding always removes 29 bits, because a term
  // for |x| < 80 is above the smallest normal float.
  constexpr uint32_t kDoubt = 1u << 16;
  const double total = sum + term;
  const uint32_t tail = static_cast<uint32_t>(bits_as<uint64_t>(total));
  if (__builtin_expect(((tail - kMiddle + kDoubt) & kTail) > 2 * kDoubt, 1)) {
    return static_cast<float>(total);
  }
  return add_exp_in_doubt(sum, frequency, x);
}

// Returns the next node of lane i, and moves the lane to the node after it.
template <typename Pass>
SPMCOMPAT_INLINE const LinkedPiece& take_node(const PassArrays& arrays, LaneStates<Pass>& lanes,
                                              size_t i) {
  const LinkedPiece& piece = arrays.pieces[piece_of(lanes.node[i])];
  const size_t position = lanes.position[i] + is_shortest(piece);
  const uint32_t first_node = arrays.first_nodes[position];
  lanes.node[i] = is_shortest(piece) ? first_node : piece.prefix;
  lanes.position[i] = position;
  return piece;
}

// Processes the k-th node of four lanes, the first of which is lane `first`.
SPMCOMPAT_INLINE void advance_four(const PassArrays& arrays, LaneStates<BestPathPass>& lanes,
                                   size_t first, size_t) {
  for (size_t i = first; i < first + 4; ++i) {
    const uint32_t id = piece_of(lanes.node[i]);
    PathEnd* const begin = arrays.path_ends + lanes.position[i];
    const LinkedPiece& piece = take_node(arrays, lanes, i);
    PathEnd& end = begin[piece.length];
    const float score = begin->score + piece.score;
    const float tolerance = 2.5e-7f * ((score < 0 ? -score : score) + arrays.unknown_magnitude);
    // Uses bit masks, because the processor could not predict branches.
    const uint32_t near_tie = end.score >= score - tolerance ? PathEnd::kNearTie : 0;
    const uint32_t better = -static_cast<uint32_t>(!(score <= end.score));
    end.piece = ((id | near_tie) & better) | (end.piece & ~better);
    end.score = end.score > score ? end.score : score;
  }
}

SPMCOMPAT_INLINE void advance_four(const PassArrays& arrays, LaneStates<ForwardPass>& lanes,
                                   size_t first, size_t k) {
  float term[4];
  float* end[4];
  for (size_t i = 0; i < 4; ++i) {
    float* const begin = arrays.alpha + lanes.position[first + i];
    lanes.nodes[first + i][k] = lanes.node[first + i];
    const LinkedPiece& piece = take_node(arrays, lanes, first + i);
    term[i] = *begin + piece.score;
    end[i] = begin + piece.length;
  }
  const Float4 sum = log_sum_exp(Float4{*end[0], *end[1], *end[2], *end[3]},
                                 Float4{term[0], term[1], term[2], term[3]}, arrays.exact);
  for (int i = 0; i < 4; ++i) *end[i] = sum[i];
}

SPMCOMPAT_INLINE void advance_four(const PassArrays& arrays, LaneStates<BackwardPass>& lanes,
                                   size_t first, size_t k) {
  float term[4];
  float* begin[4];
  for (size_t i = 0; i < 4; ++i) {
    const uint32_t node = *(lanes.nodes[first + i] - k);
    const LinkedPiece& piece = arrays.pieces[piece_of(node)];
    size_t& position = lanes.position[first + i];
    const float beta = arrays.beta[position + piece.length];
    term[i] = piece.score + beta;
    *(lanes.log_marginal[first + i] - k) =
        ((arrays.alpha[position] + piece.score) + beta) - lanes.log_likelihood[first + i];
    begin[i] = arrays.beta + position;
    position -= is_first(node);
  }
  const Float4 sum = log_sum_exp(Float4{*begin[0], *begin[1], *begin[2], *begin[3]},
                                 Float4{term[0], term[1], term[2], term[3]}, arrays.exact);
  for (int i = 0; i < 4; ++i) *begin[i] = sum[i];
}

// Processes the nodes [first, last) of all lanes.
template <typename Pass>
SPMCOMPAT_INLINE void advance_all(const PassArrays& arrays, LaneStates<Pass>& lanes, size_t first,
                                  size_t last) {
  for (size_t k = first; k < last; ++k) {
    for (size_t i = 0; i < Pass::kWidth; i += 4) advance_four(arrays, lanes, i, k);
  }
}

inline void advance(const PassArrays& arrays, LaneStates<BestPathPass>& lanes, size_t first,
                    size_t last) {
  advance_all(arrays, lanes, first, last);
}
inline void advance(const PassArrays& arrays, LaneStates<ForwardPass>& lanes, size_t first,
                    size_t last) {
  advance_all(arrays, lanes, first, last);
}
inline void advance(const PassArrays& arrays, LaneStates<BackwardPass>& lanes, size_t first,
                    size_t last) {
  advance_all(arrays, lanes, first, last);
}

// Converts the log marginals of a pretoken's nodes to terms of expected counts, four at a time.
// Both arrays are padded by three items.
inline void to_terms(const float* log_marginal, size_t size, float frequency, double* terms) {
  for (size_t i = 0; i < size; i += 4) {
    Float4 four;
    std::memcpy(&four, log_marginal + i, sizeof four);
    const Double4 term = exp_terms(frequency, four);
    std::memcpy(terms + i, &term, sizeof term);
  }
}

// Adds the marginals of a pretoken's nodes to the expected counts of their pieces. A piece is
// unknown if its id is at least `unknown`. `nodes` is padded by the prefetch distance.
inline void add_marginals(const uint32_t* nodes, size_t size, const float* log_marginal,
                          const double* terms, float frequency, uint32_t unknown, float* expected) {
  const auto add = [=](size_t k, uint32_t piece) {
    expected[piece] = add_exp(expected[piece], terms[k], frequency, log_marginal[k]);
  };
  for (size_t k = 0; k < size; ++k) {
    __builtin_prefetch(expected + piece_of(nodes[k + kNodesAhead]));
    const uint32_t piece = piece_of(nodes[k]);
    if (__builtin_expect(piece < unknown, 1)) {
      add(k, piece);
      continue;
    }
    // The reference adds the marginal of the unknown piece to the expected count of piece 0, after
    // it has added all other marginals of the position. Piece 0 may also be a node of this
    // position, so the order of the additions matters.
    const size_t first = k;
    for (; k + 1 < size && !is_first(nodes[k + 1]); ++k) add(k + 1, piece_of(nodes[k + 1]));
    add(first, 0);
  }
}

}  // namespace spmcompat::SPMCOMPAT_PROCESSOR
