// The pieces during training, with their texts and scores, and the choice of the final pieces.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

// Marks a dropped piece in a list of new ids.
constexpr uint32_t kDropped = 0xffffffffu;

// The score of the unknown piece is the lowest score of a piece minus this number. Source:
// unigram_model.cc.
constexpr float kUnknownPenalty = 10.0f;

// Pieces in the order of their ids. The unknown piece is not stored here. Lattices use it at
// positions where no piece of a single character matches. Its id is size(), and its score is
// unknown_score().
class Pieces {
 public:
  std::vector<float> score;

  uint32_t size() const { return static_cast<uint32_t>(score.size()); }
  std::string_view operator[](uint32_t id) const { return (*texts_)[text_ids_[id]]; }

  void reserve(size_t pieces, size_t bytes) {
    make_texts();
    texts_->bytes.reserve(bytes);
    texts_->end.reserve(pieces);
    text_ids_.reserve(pieces);
    score.reserve(pieces);
  }
  void add(std::string_view piece, float piece_score) {
    make_texts();
    if (piece.size() > UINT32_MAX - texts_->bytes.size()) {
      throw std::length_error("the texts of the pieces exceed 4 GB");
    }
    text_ids_.push_back(static_cast<uint32_t>(texts_->end.size()));
    texts_->bytes.append(piece);
    texts_->end.push_back(static_cast<uint32_t>(texts_->bytes.size()));
    score.push_back(piece_score);
  }

  float min_score() const {
    float lowest = std::numeric_limits<float>::max();
    for (const float s : score) lowest = std::min(lowest, s);
    return lowest;
  }
  float unknown_score() const { return min_score() - kUnknownPenalty; }

  // Returns the pieces with these ids, in this order, with their scores. The result shares the
  // texts with this object.
  Pieces select(const std::vector<uint32_t>& kept) const {
    Pieces result;
    result.texts_ = texts_;
    result.text_ids_.reserve(kept.size());
    result.score.reserve(kept.size());
    for (const uint32_t id : kept) {
      result.text_ids_.push_back(text_ids_[id]);
      result.score.push_back(score[id]);
    }
    return result;
  }

 private:
  // The concatenated texts of the seeds. The pieces of later rounds share them.
  struct Texts {
    std::string bytes;
    std::vector<uint32_t> end;

    std::string_view operator[](uint32_t id) const {
      const uint32_t begin = id == 0 ? 0 : end[id - 1];
      return std::string_view(bytes.data() + begin, end[id] - begin);
    }
  };

  void make_texts() {
    if (texts_ == nullptr) texts_ = std::make_shared<Texts>();
  }

  // Created on first use, because Cython cannot catch an exception that is thrown while it
  // constructs an object.
  std::shared_ptr<Texts> texts_;
  std::vector<uint32_t> text_ids_;
};

// The pieces that a step keeps. `new_ids` contains the new id of each old piece, or kDropped, and
// as its last item the new id of the unknown piece.
struct KeptPieces {
  KeptPieces() = default;
  // Keeps the pieces with these ids, in this order, with their scores.
  KeptPieces(const Pieces& old, const std::vector<uint32_t>& kept)
      : pieces(old.select(kept)), new_ids(old.size(), kDropped) {
    for (uint32_t i = 0; i < kept.size(); ++i) new_ids[kept[i]] = i;
    new_ids.push_back(static_cast<uint32_t>(kept.size()));
  }

  Pieces pieces;
  std::vector<uint32_t> new_ids;
};

// Converts scores that are counts to log probabilities. `Sum` is the type of the sum of the counts
// and of its logarithm: double in release 0.2.3, float in earlier releases.
template <typename Sum = double>
void to_log_probabilities(std::vector<float>& score) {
  Sum sum = 0;
  for (const float s : score) sum += s;
  const Sum log_sum = static_cast<Sum>(std::log(static_cast<double>(sum)));
  for (float& s : score) s = static_cast<float>(std::log(static_cast<double>(s)) - log_sum);
}

inline std::string piece_text(const Pieces& pieces, uint32_t id) { return std::string(pieces[id]); }

inline void append_characters(std::string_view text, std::vector<char32_t>& characters) {
  const char* end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    size_t length;
    characters.push_back(decode_utf8(p, end, &length));
    p += length;
  }
}

inline void decode_text(std::string_view text, std::vector<char32_t>& characters) {
  characters.clear();
  append_characters(text, characters);
}

// Sorts by descending score, then by bytes.
inline Pieces sort_by_score(const Pieces& pieces) {
  std::vector<uint32_t> order(pieces.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const float x = pieces.score[a], y = pieces.score[b];
    return x != y ? x > y : pieces[a] < pieces[b];
  });
  return pieces.select(order);
}

// Selects the best pieces, and adds the required characters that pruning removed. The first added
// character gets the lowest score of the trained pieces. The score of each further character is
// 0.0001 higher. The steps of 0.0001 are added up in float, as in the reference.
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
