// The symbols of a text of tokens, and the token of each symbol.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "spmcompat/bpe/symbols.hpp"

namespace spmcompat {

class TokenSymbols {
 public:
  // `letters` has the code and the token of each letter.
  explicit TokenSymbols(const std::vector<std::pair<uint32_t, uint32_t>>& letters) {
    for (const auto& [code, token] : letters) {
      symbols_.add(char32_t{code});
      share_tokens_ = share_tokens_ || occurs(token);
      add_token(token);
    }
    letters_ = symbols_.size();
  }

  Symbols& symbols() { return symbols_; }
  const Symbols& symbols() const { return symbols_; }
  uint32_t letters() const { return letters_; }
  // The token of each symbol.
  const std::vector<uint32_t>& tokens() const { return tokens_; }
  uint32_t token(uint32_t symbol) const { return tokens_[symbol]; }

  // Whether a symbol has this token.
  bool occurs(uint32_t token) const { return token < occurs_.size() && occurs_[token]; }
  bool letters_share_tokens() const { return share_tokens_; }

  uint32_t add(uint32_t left, uint32_t right, uint32_t token) {
    add_token(token);
    return symbols_.add(left, right);
  }

 private:
  void add_token(uint32_t token) {
    tokens_.push_back(token);
    if (occurs_.size() <= token) occurs_.resize(token + 1);
    occurs_[token] = true;
  }

  Symbols symbols_;
  std::vector<uint32_t> tokens_;
  std::vector<bool> occurs_;
  uint32_t letters_ = 0;
  bool share_tokens_ = false;
};

}  // namespace spmcompat
