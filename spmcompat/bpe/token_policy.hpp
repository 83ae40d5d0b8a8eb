// The rules of Hugging Face's trainers (tokenizers 0.23) for the pairs of a text: which of them may
// be merged, and which of two pairs with the same count comes first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "spmcompat/bpe/pairs.hpp"
#include "spmcompat/bpe/symbols.hpp"
#include "spmcompat/bpe/token_texts.hpp"

namespace spmcompat {

// The rule of BpeTrainer: the pair with the smaller ids comes first.
class TokenPolicy {
 public:
  // `tokens` has the id of each symbol's token. A merge of more than two letters must have fewer
  // than `length_limit` letters. The symbols and the tokens must outlive the policy.
  TokenPolicy(const Symbols& symbols, const std::vector<uint32_t>& tokens, uint64_t length_limit)
      : tokens_(tokens), symbols_(symbols), length_limit_(length_limit) {}

  bool allows(uint32_t left, uint32_t right) const {
    const uint64_t length = uint64_t{symbols_.length(left)} + symbols_.length(right);
    return length == 2 || length < length_limit_;
  }

  uint64_t rank(const Pair& pair) const {
    return uint64_t{tokens_[pair.left]} << 32 | tokens_[pair.right];
  }
  // Different pairs have different ranks.
  bool comes_later(const Pair&, const Pair&) const { return false; }

 protected:
  const std::vector<uint32_t>& tokens_;

 private:
  const Symbols& symbols_;
  uint64_t length_limit_;
};

// The rule of Hugging Face's ParityBpeTrainer: the pair whose left text is larger comes first, then
// the one whose right text is larger.
class ParityTokenPolicy : public TokenPolicy {
 public:
  // The texts must outlive the policy, too.
  ParityTokenPolicy(const Symbols& symbols, const std::vector<uint32_t>& tokens,
                    uint64_t length_limit, const TokenTexts& texts)
      : TokenPolicy(symbols, tokens, length_limit), texts_(texts) {}

  // Returns the first bytes of the left text, inverted.
  uint64_t rank(const Pair& pair) const {
    const std::string& left = texts_[tokens_[pair.left]];
    uint64_t first = 0;
    for (size_t i = 0; i < sizeof(first); ++i) {
      first = first << 8 | (i < left.size() ? static_cast<unsigned char>(left[i]) : 0);
    }
    return ~first;
  }
  bool comes_later(const Pair& a, const Pair& b) const {
    const std::string &a_left = texts_[tokens_[a.left]], &b_left = texts_[tokens_[b.left]];
    if (a_left != b_left) return a_left < b_left;
    return texts_[tokens_[a.right]] < texts_[tokens_[b.right]];
  }

 private:
  const TokenTexts& texts_;
};

}  // namespace spmcompat
