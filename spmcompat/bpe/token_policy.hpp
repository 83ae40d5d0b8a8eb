// The rule of Hugging Face's BpeTrainer (tokenizers 0.23) for the pairs of a text: of two pairs
// with the same count, the one with the smaller ids comes first.
#pragma once

#include <cstdint>
#include <vector>

#include "spmcompat/bpe/pairs.hpp"
#include "spmcompat/bpe/symbols.hpp"

namespace spmcompat {

class TokenPolicy {
 public:
  // `tokens` has the id of each symbol's token. A merge of more than two letters must have fewer
  // than `length_limit` letters. The symbols and the tokens must outlive the policy.
  TokenPolicy(const Symbols& symbols, const std::vector<uint32_t>& tokens, uint64_t length_limit)
      : symbols_(symbols), tokens_(tokens), length_limit_(length_limit) {}

  bool allows(uint32_t left, uint32_t right) const {
    const uint64_t length = uint64_t{symbols_.length(left)} + symbols_.length(right);
    return length == 2 || length < length_limit_;
  }

  uint64_t rank(const Pair& pair) const {
    return uint64_t{tokens_[pair.left]} << 32 | tokens_[pair.right];
  }
  // Different pairs have different ranks.
  bool comes_later(const Pair&, const Pair&) const { return false; }

 private:
  const Symbols& symbols_;
  const std::vector<uint32_t>& tokens_;
  uint64_t length_limit_;
};

}  // namespace spmcompat
