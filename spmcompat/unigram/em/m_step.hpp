// The M-step: computes new scores from expected counts, and drops rare pieces.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/unigram/lattice/log_math.hpp"
#include "spmcompat/unigram/pieces.hpp"

namespace spmcompat {

// The options of the M-step; see m_step in steps.pyx.
struct MStepRule {
  float threshold = 0.5f;
  bool ml = false;
  bool keep = false;
  std::unordered_set<std::string> required;
};

// Returns the pieces that stay, in their old order, with new scores.
inline KeptPieces m_step(const Pieces& pieces, const std::vector<float>& counts,
                         const MStepRule& rule, Crew& crew) {
  // The count of a piece that must stay is raised to at least this number.
  constexpr float kLeastKept = 0.5f;
  // If a piece may be dropped but is kept, its count is raised to at least this number. The digamma
  // of a small count x is about -1/x, and scores that low would break the float32 sums.
  constexpr float kLeast = 0.01f;

  std::vector<uint32_t> kept;
  std::vector<float> kept_counts;
  float total = 0.0f;
  for (uint32_t id = 0; id < counts.size(); ++id) {
    const float count = counts[id];
    // A piece with a high count stays in any case, so it is not looked up in `required`.
    const bool must_stay =
        rule.keep || (!rule.required.empty() && count < std::max(rule.threshold, kLeastKept) &&
                      rule.required.count(piece_text(pieces, id)) > 0);
    if (!must_stay && count < rule.threshold) continue;
    kept.push_back(id);
    kept_counts.push_back(std::max(count, must_stay ? kLeastKept : kLeast));
    total += kept_counts.back();
  }
  const auto transformed = [&](double x) { return rule.ml ? std::log(x) : digamma(x); };
  const float log_total = static_cast<float>(transformed(total));
  KeptPieces result(pieces, kept);
  crew.for_each_range(kept.size(), 1 << 14, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      result.pieces.score[i] = static_cast<float>(transformed(kept_counts[i]) - log_total);
    }
  });
  return result;
}

}  // namespace spmcompat
