// Finds the reachable pieces: those that an encoder uses for at least one text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/unigram/piece_trie.hpp"
#include "spmcompat/unigram/pieces.hpp"

namespace spmcompat {

// Whether another path through the text of a piece has a higher score than the piece. `text` and
// `best` are working memory; `best` contains the score of the best path to each position.
inline bool is_beaten(uint32_t id, const Pieces& pieces, const PieceTrie& trie, float unknown_score,
                      std::vector<char32_t>& text, std::vector<float>& best) {
  decode_text(pieces[id], text);
  best.assign(text.size() + 1, -std::numeric_limits<float>::infinity());
  best[0] = 0.0f;
  for (size_t i = 0; i < text.size(); ++i) {
    bool is_known = false;
    trie.for_each_prefix(text.data() + i, text.size() - i, [&](size_t size, uint32_t found) {
      if (found != id) best[i + size] = std::max(best[i + size], best[i] + pieces.score[found]);
      is_known |= size == 1;
    });
    if (!is_known) best[i + 1] = std::max(best[i + 1], best[i] + unknown_score);
  }
  return best.back() > pieces.score[id];
}

// Returns the pieces for which no other segmentation of their text has a higher score.
inline Pieces reachable_pieces(const Pieces& pieces, Crew& crew) {
  const PieceTrie trie(pieces);
  const float unknown_score = pieces.unknown_score();
  std::vector<uint8_t> reachable(pieces.size());
  crew.for_each_range(pieces.size(), 4096, [&](uint32_t first, uint32_t last) {
    std::vector<char32_t> text;
    std::vector<float> best;
    for (uint32_t id = first; id < last; ++id) {
      reachable[id] = !is_beaten(id, pieces, trie, unknown_score, text, best);
    }
  });
  std::vector<uint32_t> kept;
  for (uint32_t id = 0; id < pieces.size(); ++id) {
    if (reachable[id]) kept.push_back(id);
  }
  return pieces.select(kept);
}

}  // namespace spmcompat
