// Finds the reachable pieces: those that an encoder uses for at least one text.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/unicode/utf8.hpp"
#include "spmcompat/unigram/piece_trie.hpp"
#include "spmcompat/unigram/pieces.hpp"

namespace spmcompat {

class ReachableSearch {
 public:
  ReachableSearch(const Pieces& pieces, Crew& crew)
      : pieces_(pieces),
        unknown_score_(pieces.unknown_score()),
        never_rises_(std::all_of(pieces.score.begin(), pieces.score.end(),
                                 [](float score) { return score <= 0.0f; })) {
    best_of_class_.fill(unknown_score_);
    for (uint32_t id = 0; id < pieces.size(); ++id) {
      const std::string_view piece = pieces[id];
      if (piece.empty()) continue;  // an empty piece matches nothing
      size_t size;
      const char32_t first = decode_utf8(piece.data(), piece.data() + piece.size(), &size);
      float& best = best_of_class_[first % kClasses];
      best = std::max(best, pieces.score[id]);
    }
    crew.for_each(kParts,
                  [&](uint32_t part) { tries_[part].emplace(pieces_, part, kParts, nullptr); });
  }

  // Returns the ids of the reachable pieces in [first, last).
  std::vector<uint32_t> find(uint32_t first, uint32_t last) const {
    std::vector<char32_t> text;
    std::vector<float> best;
    std::vector<uint32_t> kept;
    for (uint32_t id = first; id < last; ++id) {
      decode_text(pieces_[id], text);
      if (!is_beaten(id, text, best)) kept.push_back(id);
    }
    return kept;
  }

 private:
  // Whether another path through the text of a piece has a higher score than the piece. `best` is
  // working memory for the score of the best path to each position.
  bool is_beaten(uint32_t id, const std::vector<char32_t>& text, std::vector<float>& best) const {
    const size_t length = text.size();
    const float score = pieces_.score[id];
    best.assign(length + 1, -std::numeric_limits<float>::infinity());
    best[0] = 0.0f;
    for (size_t i = 0; i < length; ++i) {
      // Skip position i if no path through it can beat the piece. This is certain if the best path
      // to i, extended by the best piece that may begin there, has no higher score than the piece,
      // and further pieces never raise the score.
      if (never_rises_ && best[i] + best_of_class_[text[i] % kClasses] <= score) continue;
      const PieceTrie& trie = *tries_[text[i] % kParts];
      bool is_known = false;
      trie.for_each_prefix(text.data() + i, length - i, [&](size_t size, uint32_t found) {
        if (found != id) best[i + size] = std::max(best[i + size], best[i] + pieces_.score[found]);
        is_known |= size == 1;
      });
      if (!is_known) best[i + 1] = std::max(best[i + 1], best[i] + unknown_score_);
    }
    return best[length] > score;
  }

  static constexpr uint32_t kParts = 4;  // the number of tries among which pieces are divided
  static constexpr size_t kClasses = 4096;

  const Pieces& pieces_;
  float unknown_score_;
  bool never_rises_;  // whether no score is above 0, so that no piece raises the score of a path
  std::array<std::optional<PieceTrie>, kParts> tries_;
  // The highest score of the pieces in each class. The class of a piece is its first character
  // modulo kClasses.
  std::array<float, kClasses> best_of_class_;
};

// Returns the pieces for which no other segmentation of their text has a higher score.
inline Pieces reachable_pieces(const Pieces& pieces, Crew& crew) {
  constexpr size_t kRange = 4096;  // the number of pieces that a worker takes at a time
  const ReachableSearch search(pieces, crew);
  std::vector<std::vector<uint32_t>> ranges((pieces.size() + kRange - 1) / kRange);
  crew.for_each_range(pieces.size(), kRange, [&](uint32_t first, uint32_t last) {
    ranges[first / kRange] = search.find(first, last);
  });
  std::vector<uint32_t> kept;
  for (const std::vector<uint32_t>& range : ranges) {
    kept.insert(kept.end(), range.begin(), range.end());
  }
  return pieces.select(kept);
}

}  // namespace spmcompat
