// The final pieces: all required characters, then the best of the rest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "spmcompat/unigram/pieces.hpp"

namespace spmcompat {

// By score descending, then bytes ascending.
inline Pieces ranked(const Pieces& pieces) {
  std::vector<uint32_t> order(pieces.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const float x = pieces.score[a], y = pieces.score[b];
    return x != y ? x > y : pieces[a] < pieces[b];
  });
  return pieces.select(order);
}

// Required characters that were pruned come back, with scores that are added up in float.
inline Pieces finalize(const Pieces& trained, const std::vector<std::string>& required,
                       size_t size) {
  std::unordered_set<std::string_view> missing(required.begin(), required.end());
  size_t room = size - std::min(size, missing.size());
  const Pieces best = ranked(trained);
  Pieces final;
  for (uint32_t id = 0; id < best.size(); ++id) {
    const bool is_required = missing.erase(best[id]) > 0;
    if (!is_required && room == 0) continue;
    if (!is_required) --room;
    final.add(best[id], best.score[id]);
  }
  const float lowest = trained.min_score();
  float rank = 0.0f;
  for (const std::string& character : required) {
    if (missing.count(character) == 0) continue;
    final.add(character, lowest + rank);
    rank += 0.0001f;
  }
  return ranked(final);
}

}  // namespace spmcompat
