// Encodes a text with a trained model, as the runtimes of sentencepiece up to 0.2.2 do.
//
// The text is normalized, except for user-defined symbols, and cut into pieces by the algorithm of
// the model type. Then unknown pieces are joined, or spelled as bytes. EncoderOptions has the
// differences between the releases. Ties and float widths are those of the releases.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <queue>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "spmcompat/containers/double_array.hpp"
#include "spmcompat/normalization/normalizer.hpp"
#include "spmcompat/unicode/marks.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

// The numbers are those of the fields in a model.
enum class ModelType { kUnigram = 1, kBpe, kWord, kChar };
enum class PieceType : uint8_t { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };

struct ModelPiece {
  std::string text;
  float score;
  PieceType type;
};

struct EncoderOptions {
  ModelType model_type = ModelType::kUnigram;
  bool byte_fallback = false;
  bool scores_in_float = false;  // if not, sums are compared in double, and stored in float
  bool loses_control_pieces = false;  // a text that contains a control piece cannot be encoded
  NormalizerOptions normalizer;
};

class Encoder {
 public:
  // The pieces are in the order of their ids. One of them must be the unknown piece. Throws
  // std::runtime_error if the charsmap is broken or a symbol contains a 0 byte.
  Encoder(std::vector<ModelPiece> pieces, std::string_view charsmap, const EncoderOptions& options)
      : options_(options),
        pieces_(std::move(pieces)),
        symbols_(user_defined_symbols()),
        normalizer_(charsmap, options.normalizer, symbols_.empty() ? nullptr : &symbols_) {
    std::vector<std::pair<std::string, uint32_t>> learned;
    for (uint32_t id = 0; id < pieces_.size(); ++id) {
      const ModelPiece& piece = pieces_[id];
      ids_.emplace(piece.text, id);
      if (piece.type == PieceType::kUnknown) unknown_ = id;
      if (can_be_merged(id)) learned.emplace_back(piece.text, id);
      if (piece.type != PieceType::kNormal) continue;
      min_score_ = std::min(min_score_, piece.score);
      max_score_ = std::max(max_score_, piece.score);
    }
    if (options_.model_type != ModelType::kUnigram) return;
    std::sort(learned.begin(), learned.end());
    learned_ = DoubleArray::build(learned);
  }

  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  // Returns the pieces of a text. Unknown pieces are spelled as in the text. Throws
  // std::runtime_error if the text cannot be encoded.
  std::vector<std::string> encode(std::string_view text) const {
    std::string normalized;
    normalizer_.normalize(text.data(), text.size(), normalized);
    std::vector<std::string> spelled;
    bool after_unknown = false;
    for (const Token& token : segment(normalized)) {
      const bool is_unknown = token.id == unknown_;
      if (options_.loses_control_pieces && pieces_[token.id].type == PieceType::kControl) {
        throw std::runtime_error("all normalized characters are not consumed.");
      }
      if (is_unknown && options_.byte_fallback) {
        for (const char byte : token.text) spelled.push_back(byte_piece(byte));
      } else if (is_unknown && after_unknown) {
        spelled.back() += token.text;
      } else {
        spelled.emplace_back(token.text);
      }
      after_unknown = is_unknown;
    }
    return spelled;
  }

 private:
  static constexpr float kUnknownPenalty = 10.0f;
  static constexpr float kLargestSum = 100000.0f;  // larger float sums are reset to zero

  struct Token {
    std::string_view text;
    uint32_t id;
  };

  // A symbol of BPE, in a linked list. It becomes empty when it is merged into its left neighbour.
  struct Symbol {
    std::string_view text;
    int previous, next;
    bool is_fixed;  // a user-defined symbol
  };

  struct Merge {
    float score;
    int left, right;
    size_t size;  // of both symbols, in bytes; if their size has changed, the merge is outdated

    // std::priority_queue returns the largest element first: the merge to make next.
    bool operator<(const Merge& other) const {
      return score < other.score || (score == other.score && left > other.left);
    }
  };

  // The last piece of the best path to a position.
  struct Arrival {
    float score = 0.0f;
    uint32_t id = 0;
    size_t begin = kNowhere;
  };
  static constexpr size_t kNowhere = std::numeric_limits<size_t>::max();

  std::vector<std::string> user_defined_symbols() const {
    std::vector<std::string> symbols;
    for (const ModelPiece& piece : pieces_) {
      if (piece.type == PieceType::kUserDefined) symbols.push_back(piece.text);
    }
    return symbols;
  }

  bool can_be_merged(uint32_t id) const {
    const PieceType type = pieces_[id].type;
    return type == PieceType::kNormal || type == PieceType::kUserDefined;
  }

  uint32_t id_of(std::string_view text) const {
    const auto found = ids_.find(text);
    return found == ids_.end() ? unknown_ : found->second;
  }

  static std::string byte_piece(char byte) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned char>(byte));
    return name;
  }

  static size_t character_at(std::string_view text, size_t at) {
    return std::min(char_size(text[at]), text.size() - at);
  }

  std::vector<Token> segment(std::string_view text) const {
    switch (options_.model_type) {
      case ModelType::kUnigram:
        return best_path(text);
      case ModelType::kBpe:
        return merged(text);
      case ModelType::kWord:
        return words(text);
      case ModelType::kChar:
        break;
    }
    std::vector<Token> tokens;
    for (const Symbol& symbol : characters(text)) tokens.push_back(token(symbol.text));
    return tokens;
  }

  Token token(std::string_view text) const { return {text, id_of(text)}; }

  // A word ends before every space mark, whatever the options of the training.
  std::vector<Token> words(std::string_view text) const {
    std::vector<Token> tokens;
    while (!text.empty()) {
      const std::string_view word = text.substr(0, text.find(kSpaceUtf8, 1));
      tokens.push_back(token(word));
      text.remove_prefix(word.size());
    }
    return tokens;
  }

  // Cuts the text into user-defined symbols, and the single characters between them.
  std::vector<Symbol> characters(std::string_view text) const {
    std::vector<Symbol> symbols;
    for (size_t at = 0; at < text.size();) {
      const size_t fixed = symbols_.match(text.data() + at, text.data() + text.size());
      const size_t size = fixed > 0 ? fixed : character_at(text, at);
      const int index = static_cast<int>(symbols.size());
      symbols.push_back({text.substr(at, size), index - 1, index + 1, fixed > 0});
      at += size;
    }
    if (!symbols.empty()) symbols.back().next = -1;
    return symbols;
  }

  // Merges the neighbours that form the piece with the best score, until no neighbours form one.
  std::vector<Token> merged(std::string_view text) const {
    std::vector<Symbol> symbols = characters(text);
    std::priority_queue<Merge> queue;
    const auto consider = [&](int left, int right) {
      if (left < 0 || right < 0 || symbols[left].is_fixed || symbols[right].is_fixed) return;
      const size_t size = symbols[left].text.size() + symbols[right].text.size();
      const auto found = ids_.find(std::string_view(symbols[left].text.data(), size));
      if (found == ids_.end() || !can_be_merged(found->second)) return;
      queue.push({pieces_[found->second].score, left, right, size});
    };
    const int count = static_cast<int>(symbols.size());
    for (int right = 1; right < count; ++right) consider(right - 1, right);
    while (!queue.empty()) {
      const Merge merge = queue.top();
      queue.pop();
      Symbol& left = symbols[merge.left];
      Symbol& right = symbols[merge.right];
      const bool is_gone = left.text.empty() || right.text.empty();
      if (is_gone || left.text.size() + right.text.size() != merge.size) continue;
      left.text = std::string_view(left.text.data(), merge.size);
      right.text = {};
      left.next = right.next;
      if (left.next >= 0) symbols[left.next].previous = merge.left;
      consider(left.previous, merge.left);
      consider(merge.left, left.next);
    }
    std::vector<Token> tokens;
    for (const Symbol& symbol : symbols) {
      if (!symbol.text.empty()) tokens.push_back(token(symbol.text));
    }
    return tokens;
  }

  // The path with the largest sum of scores (Viterbi). Among equal paths, the first one is kept.
  std::vector<Token> best_path(std::string_view text) const {
    std::vector<Arrival> arrivals(text.size() + 1);
    const auto offer = [&](size_t begin, size_t size, uint32_t id, double score) {
      Arrival& arrival = arrivals[begin + size];
      if (arrival.begin != kNowhere && !(score > arrival.score)) return;
      arrival = {static_cast<float>(score), id, begin};
    };
    for (size_t at = 0; at < text.size();) {
      if (options_.scores_in_float) reset(arrivals, at);
      const float before = arrivals[at].score;
      const size_t character = character_at(text, at);
      bool is_covered = false;
      const char* end = text.data() + text.size();
      learned_.for_each_prefix(text.data() + at, end, [&](size_t size, uint32_t id) {
        const double sum = score_of(id, size) + before;
        offer(at, size, id, options_.scores_in_float ? static_cast<float>(sum) : sum);
        is_covered |= size == character;
      });
      if (!is_covered) {
        const float sum = (min_score_ - kUnknownPenalty) + before;
        offer(at, character, unknown_, sum);
      }
      at += character;
    }
    std::vector<Token> tokens;
    for (size_t end = text.size(); end > 0;) {
      const Arrival& arrival = arrivals[end];
      tokens.push_back({text.substr(arrival.begin, end - arrival.begin), arrival.id});
      end = arrival.begin;
    }
    std::reverse(tokens.begin(), tokens.end());
    return tokens;
  }

  // A user-defined symbol has a better score than any way to cut it.
  double score_of(uint32_t id, size_t size) const {
    if (pieces_[id].type != PieceType::kUserDefined) return pieces_[id].score;
    if (options_.scores_in_float) return static_cast<float>(0.1 * (static_cast<int>(size) - 1));
    return static_cast<float>(size) * max_score_ - 0.1;
  }

  // If the sum at a position has become too large for float, subtracts it from this sum and all
  // later ones.
  static void reset(std::vector<Arrival>& arrivals, size_t at) {
    const float offset = arrivals[at].score;
    if (std::fabs(offset) <= kLargestSum) return;
    for (size_t i = at; i < arrivals.size(); ++i) {
      if (i == at || arrivals[i].begin != kNowhere) arrivals[i].score -= offset;
    }
  }

  EncoderOptions options_;
  std::vector<ModelPiece> pieces_;
  std::unordered_map<std::string_view, uint32_t> ids_;
  uint32_t unknown_ = 0;
  float min_score_ = FLT_MAX;
  float max_score_ = FLT_MIN;  // as in the releases: above all scores, which are at most 0
  SymbolMatcher symbols_;
  Normalizer normalizer_;
  DoubleArray learned_;
};

}  // namespace spmcompat
