// SentencePiece's rule for the pairs of a text: which of them may be merged, and which comes first.
//
// Of two pairs with the same count, the one with fewer characters comes first, then the one with
// the smaller text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "spmcompat/bpe/pairs.hpp"
#include "spmcompat/bpe/symbols.hpp"
#include "spmcompat/containers/hash.hpp"
#include "spmcompat/containers/slot_index.hpp"
#include "spmcompat/pretokenization/piece_rule.hpp"

namespace spmcompat {

class PiecePolicy {
 public:
  // The symbols must outlive the policy.
  PiecePolicy(const Symbols& symbols, const PieceRule& rule) : symbols_(symbols), rule_(rule) {}

  // Whether the text of a pair may be a piece.
  bool allows(uint32_t left, uint32_t right) {
    if (symbols_.length(left) + symbols_.length(right) > rule_.max_piece_length) return false;
    piece_.assign(symbols_[left]);
    piece_.append(symbols_[right]);
    return rule_.allows(piece_.data(), piece_.size());
  }

  // Returns a number that consists of the length of a pair's text and as many of the first
  // characters of the text as fit. Of two pairs with the same count, the one with the lower number
  // comes first. The number decides the order of most of them, so few texts have to be compared.
  uint64_t rank(const Pair& pair) const {
    const std::u32string_view left = symbols_[pair.left], right = symbols_[pair.right];
    const auto character = [&](size_t i) -> uint64_t {
      return i < left.size()                  ? left[i]
             : i < left.size() + right.size() ? right[i - left.size()]
                                              : 0;
    };
    const uint64_t length = std::min<uint64_t>(left.size() + right.size(), 255);
    // Texts with a length of 255 here may differ in length. `comes_later` orders them.
    if (length == 255) return length << 56;
    return length << 56 | character(0) << 35 | character(1) << 14 | character(2) >> 7;
  }

  // Whether pair a comes after pair b if both have the same count and rank.
  bool comes_later(const Pair& a, const Pair& b) const {
    if (length(a) != length(b)) return length(a) > length(b);
    return symbols_.precedes(b.left, b.right, a.left, a.right);
  }

 protected:
  const Symbols& symbols_;

 private:
  uint32_t length(const Pair& pair) const {
    return symbols_.length(pair.left) + symbols_.length(pair.right);
  }

  PieceRule rule_;
  std::u32string piece_;  // working memory, which is kept so that not every call has to allocate it
};

// An index of the symbols with more than one character by their texts.
class PieceTexts {
 public:
  // The symbols must outlive the index.
  explicit PieceTexts(const Symbols& symbols) : symbols_(symbols) {}

  // Adds the text of a symbol. Returns whether no other symbol has it.
  bool add(uint32_t symbol) {
    const std::u32string_view text = symbols_[symbol];
    const auto* bytes = reinterpret_cast<const char*>(text.data());
    const uint32_t hash = hash_bytes(bytes, text.size() * sizeof(char32_t));
    const auto equal = [&](uint32_t known) { return symbols_[known] == text; };
    return index_.find_or_insert(hash, symbol, equal) == symbol;
  }

  void clear() { index_.clear(); }

 private:
  const Symbols& symbols_;
  SlotIndex index_;
};

}  // namespace spmcompat
