// The final pieces: all required characters, then the best other pieces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "spmcompat/unigram/pieces.hpp"

namespace spmcompat {

// Sorts by score descending, then bytes ascending.
inline Pieces sort_by_score(const Pieces& pieces) {
  std::vector<uint32_t> order(pieces.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const float x = pieces.score[a], y = pieces.score[b];
    return x != y ? x > y : pieces[a] < pieces[b];
  });
  return pieces.select(order);
}

// Selects the best pieces, and adds the required characters that pruning removed. The first of
// these gets the lowest score of all, each next one a score one step higher. The steps are added in
// float, as in the reference.
inline Pieces finalize(const Pieces& trained, const std::vector<std::string>& required,
                       size_t size) {
  std::unordered_set<std::string_view> missing(required.begin(), required.end());
  size_t others = size - std::min(size, missing.size());
  const Pieces best = sort_by_score(trained);
  Pieces final;
  for (uint32_t id = 0; id < best.size(); ++id) {
    const bool is_required = missing.erase(best[id]) > 0;
    if (!is_required && others == 0) continue;
    if (!is_required) --others;
    final.add(best[id], best.score[id]);
  }
  if (missing.empty()) return final;
  const float lowest = trained.min_score();
  float offset = 0.0f;
  for (const std::string& character : required) {
    if (missing.count(character) == 0) continue;
    final.add(character, lowest + offset);
    offset += 0.0001f;
  }
  return sort_by_score(final);
}

}  // namespace spmcompat
