// The words of a text as lists of tokens. Here, the same token may consist of different letters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "spmcompat/bpe/symbol_text.hpp"
#include "spmcompat/bpe/token_symbols.hpp"
#include "spmcompat/containers/hash.hpp"

namespace spmcompat {

using TokenPair = std::pair<uint32_t, uint32_t>;

struct TokenPairHash {
  size_t operator()(const TokenPair& pair) const { return hash_pair(pair.first, pair.second); }
};

class TokenWords {
 public:
  struct Symbol {
    uint32_t token;
    uint64_t length;  // in letters
  };
  struct Word {
    std::vector<Symbol> symbols;
    int64_t count;
    size_t language;
  };

  // A merge of more than two letters is only counted if it has fewer than `length_limit` letters.
  explicit TokenWords(uint64_t length_limit) : length_limit_(length_limit) {}

  // Adds the words of a text.
  void add(const SymbolText& text, const TokenSymbols& symbols, size_t language = 0) {
    for (uint32_t position = 1; position < text.size(); ++position) {
      const uint32_t at = text[position];
      if (SymbolText::is_symbol(at)) {
        if (SymbolText::is_edge(text[position - 1])) {
          words_.push_back({{}, static_cast<int64_t>(text.count_at(position)), language});
        }
        words_.back().symbols.push_back({symbols.token(at), symbols.symbols().length(at)});
      }
    }
  }

  const std::vector<Word>& words() const { return words_; }

  // Calls function(pair, count, word) for every pair that is counted.
  template <typename Function>
  void for_each_pair(Function function) const {
    for (uint32_t i = 0; i < words_.size(); ++i) {
      const std::vector<Symbol>& symbols = words_[i].symbols;
      for (size_t j = 1; j < symbols.size(); ++j) {
        const uint64_t length = symbols[j - 1].length + symbols[j].length;
        if (length == 2 || length < length_limit_) {
          function({symbols[j - 1].token, symbols[j].token}, words_[i].count, i);
        }
      }
    }
  }

  // Merges a pair in a word. Calls change(pair, by) for each change of a count. Returns the change of
  // the number of tokens in the text.
  template <typename Function>
  int64_t merge(uint32_t word, const TokenPair& pair, uint32_t token, Function change) {
    std::vector<Symbol>& symbols = words_[word].symbols;
    const int64_t count = words_[word].count;
    const auto size = static_cast<int64_t>(symbols.size());
    // Replaces the pair of a neighbour with a part of the merged pair.
    const auto replace = [&](const TokenPair& old, const TokenPair& now, uint64_t length) {
      change(old, -count);
      if (length < length_limit_) change(now, count);
    };
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      if (TokenPair(symbols[i].token, symbols[i + 1].token) != pair) continue;
      const Symbol merged{token, symbols[i].length + symbols[i + 1].length};
      if (i > 0) {
        const Symbol& before = symbols[i - 1];
        replace({before.token, pair.first}, {before.token, token}, before.length + merged.length);
      }
      symbols[i] = merged;
      symbols.erase(symbols.begin() + i + 1);
      if (i + 1 < symbols.size()) {
        const Symbol& after = symbols[i + 1];
        replace({pair.second, after.token}, {token, after.token}, after.length + merged.length);
      }
    }
    return (static_cast<int64_t>(symbols.size()) - size) * count;
  }

 private:
  uint64_t length_limit_;
  std::vector<Word> words_;
};

}  // namespace spmcompat
