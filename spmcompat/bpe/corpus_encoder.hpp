// Encodes the corpus with the merges of an existing model, as sentencepiece does. Two neighbouring
// symbols can be merged if their joined text is a piece. The pair whose piece has the highest score
// is merged first; of pairs with equal scores, the leftmost one. Single texts are encoded by
// model/encoding.py.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "spmcompat/bpe/symbol_text.hpp"
#include "spmcompat/bpe/symbols.hpp"
#include "spmcompat/bpe/text_filler.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

// Pieces in UTF-8 with their scores.
using ScoredPieces = std::vector<std::pair<std::string, float>>;

class CorpusEncoder {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  // Appends each piece of several characters to the symbols.
  CorpusEncoder(const ScoredPieces& pieces, Symbols& symbols) : symbols_(symbols) {
    symbol_of_.assign(pieces.size(), kNone);
    texts_.reserve(pieces.size());  // the texts must not move: the keys of merges_ view them
    for (size_t i = 0; i < pieces.size(); ++i) {
      std::u32string text;
      for_each_character(pieces[i].first, [&](char32_t c) { text.push_back(c); });
      if (text.size() < 2) continue;
      symbol_of_[i] = symbols.add(text);
      longest_ = std::max(longest_, text.size());
      texts_.push_back(std::move(text));
      merges_.emplace(texts_.back(), Merge{pieces[i].second, symbol_of_[i]});
    }
  }

  // The symbol of a piece; kNone if it is a single character.
  uint32_t symbol_of(size_t piece) const { return symbol_of_[piece]; }

  // Encodes a text in which every symbol is a character. Throws Cancelled if `cancel` is set.
  void encode(SymbolText& text, const CancelFlag& cancel) {
    for (uint32_t position = 0; position + 1 < text.size(); ++position) {
      cancel.check();
      if (SymbolText::is_symbol(text[position])) {
        push(text, position);
      } else {
        merge_all(text);  // This position is the edge after the end of a segment.
      }
    }
    merge_all(text);
  }

 private:
  struct Merge {
    float score;
    uint32_t symbol;
  };
  struct PossibleMerge {
    float score;
    uint32_t position, left, right, merged;

    bool operator<(const PossibleMerge& other) const {
      return score != other.score ? score < other.score : position > other.position;
    }
  };

  // Adds the symbol at a position and the next symbol to the queue, if their joined text is a
  // piece.
  void push(const SymbolText& text, uint32_t position) {
    const uint32_t left = text[position];
    const uint32_t right = text[position + symbols_.length(left)];
    if (!SymbolText::is_symbol(right)) return;
    if (symbols_.length(left) + symbols_.length(right) > longest_) return;
    joined_.assign(symbols_[left]);
    joined_.append(symbols_[right]);
    const auto found = merges_.find(joined_);
    if (found == merges_.end()) return;
    const Merge& merge = found->second;
    possible_merges_.push_back({merge.score, position, left, right, merge.symbol});
    std::push_heap(possible_merges_.begin(), possible_merges_.end());
  }

  void merge_all(SymbolText& text) {
    while (!possible_merges_.empty()) {
      std::pop_heap(possible_merges_.begin(), possible_merges_.end());
      const PossibleMerge best = possible_merges_.back();
      possible_merges_.pop_back();
      const uint32_t left_length = symbols_.length(best.left);
      const bool is_outdated =
          text[best.position] != best.left || text[best.position + left_length] != best.right;
      if (is_outdated) continue;
      text.merge(best.position, best.merged, left_length, symbols_.length(best.merged));
      const uint32_t before = text.position_before(best.position);
      if (SymbolText::is_symbol(text[before])) push(text, before);
      push(text, best.position);
    }
  }

  const Symbols& symbols_;
  std::vector<uint32_t> symbol_of_;
  std::vector<std::u32string> texts_;
  std::unordered_map<std::u32string_view, Merge> merges_;
  size_t longest_ = 0;  // the length of the longest piece in characters
  std::vector<PossibleMerge> possible_merges_;
  std::u32string joined_;
};

// Returns how often each piece occurs in the encoded segments. Pieces of a single character are not
// counted. Frees the segments.
inline std::vector<uint64_t> count_in_encoded(SegmentCounts& segments, const ScoredPieces& pieces,
                                              Crew& crew) {
  Symbols symbols;
  SymbolText text;
  fill_text(std::exchange(segments, SegmentCounts()), SegmentOrder::kMostFrequentFirst, text,
            symbols, crew);
  CorpusEncoder encoder(pieces, symbols);
  encoder.encode(text, crew.cancel());
  std::vector<uint64_t> of_symbols(symbols.size(), 0);
  for (uint32_t position = 0; position < text.size(); ++position) {
    if (SymbolText::is_symbol(text[position]))
      of_symbols[text[position]] += text.count_at(position);
  }
  std::vector<uint64_t> found(pieces.size(), 0);
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (encoder.symbol_of(i) != CorpusEncoder::kNone) found[i] = of_symbols[encoder.symbol_of(i)];
  }
  return found;
}

}  // namespace spmcompat
