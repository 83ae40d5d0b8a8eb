// Which pieces a text would ever use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "pieces.hpp"

namespace spmcompat {

// The score of the best path through a text of which the piece `id` is no part. Of each position
// `best` takes the score of the best path to it.
inline float best_without(uint32_t id, const std::vector<char32_t>& text, const PieceTrie& trie,
                          const Pieces& pieces, float unknown_score, std::vector<float>& best) {
  const size_t length = text.size();
  best.assign(length + 1, -std::numeric_limits<float>::infinity());
  best[0] = 0.0f;
  for (size_t i = 0; i < length; ++i) {
    bool is_known = false;
    trie.for_each_prefix(text.data() + i, length - i, [&](size_t size, uint32_t found) {
      if (found != id) best[i + size] = std::max(best[i + size], best[i] + pieces.score[found]);
      is_known |= size == 1;
    });
    if (!is_known) best[i + 1] = std::max(best[i + 1], best[i] + unknown_score);
  }
  return best[length];
}

// The ids, of those in [first, last), of the pieces that their own decomposition does not beat.
inline std::vector<uint32_t> reachable(const PieceTrie& trie, const Pieces& pieces, uint32_t first,
                                       uint32_t last, const volatile int* cancel) {
  const float unknown_score = pieces.unknown_score();
  std::vector<char32_t> text;
  std::vector<float> best;
  std::vector<uint32_t> kept;
  for (uint32_t id = first; id < last && !*cancel; ++id) {
    decode_text(pieces[id], text);
    const float other = best_without(id, text, trie, pieces, unknown_score, best);
    if (!(other > pieces.score[id])) kept.push_back(id);
  }
  return kept;
}

}  // namespace spmcompat
