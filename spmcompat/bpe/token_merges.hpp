// The merges of a tokenizer.json: byte-pair merges as Hugging Face's BpeTrainer (tokenizers 0.23)
// chooses them.
//
// A merge whose text is already a token gets the id of that token. If the token occurs in the text,
// RecurringTokens makes this merge and all that follow.
//
// Pairs whose count is below a floor are not recorded, as in merges.hpp. The first floor is higher
// than there: letters are often bytes, of which the first merges make characters, so that the text
// is much shorter when rarer pairs are recorded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "spmcompat/bpe/letters.hpp"
#include "spmcompat/bpe/paired_text.hpp"
#include "spmcompat/bpe/recurring_tokens.hpp"
#include "spmcompat/bpe/symbol_text.hpp"
#include "spmcompat/bpe/symbols.hpp"
#include "spmcompat/bpe/text_filler.hpp"
#include "spmcompat/bpe/token_policy.hpp"
#include "spmcompat/bpe/token_texts.hpp"
#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/segments/segment_counts.hpp"

namespace spmcompat {

struct TokenMergeOptions {
  Letters letters;
  std::vector<std::pair<uint32_t, uint32_t>> tokens;  // the code and the token of each letter
  TokenTexts texts;                                   // special tokens and letters
  uint64_t least_count = 1;   // pairs that occur less often are not merged; at least 1
  uint64_t length_limit = 0;  // see TokenPolicy
  size_t expected = 1;        // the approximate number of merges
};

class TokenMerges {
 public:
  // `options.tokens` must contain all letters of the words. Throws std::overflow_error if the text
  // is too large.
  TokenMerges(SegmentCounts words, const TokenMergeOptions& options, Crew& crew)
      : least_count_(options.least_count),
        length_limit_(options.length_limit),
        texts_(options.texts),
        text_(symbols_, {symbols_, tokens_, options.length_limit}) {
    for (const auto& [code, token] : options.tokens) {
      symbols_.add(char32_t{code});
      add_token(token);
    }
    const uint64_t letters = fill_text(std::move(words), SegmentOrder::kMostFrequentFirst,
                                       text_.text(), symbols_, crew, options.letters);
    const uint64_t mean = letters / std::max<size_t>(options.expected, 1);
    floor_ = std::max(least_count_, mean < 32 ? 1 : 4 * mean);
    const bool letters_share_tokens =
        static_cast<size_t>(std::count(occurs_.begin(), occurs_.end(), true)) < tokens_.size();
    if (letters_share_tokens) start_recurring();
  }
  TokenMerges(const TokenMerges&) = delete;
  static std::unique_ptr<TokenMerges> of_words(SegmentCounts& words,
                                               const TokenMergeOptions& options, Crew& crew) {
    return std::make_unique<TokenMerges>(std::move(words), options, crew);
  }

  // Makes merges until there are `wanted` tokens, or no pair is left.
  void make(size_t wanted, Crew& crew) {
    while (texts_.size() < wanted) {
      if (recurring_) return recurring_->make(wanted, texts_, merges_, crew);
      crew.check_cancelled();
      if (must_record_) record(crew);
      const uint32_t best = text_.take_best();
      if (best == Text::kNone) {
        if (floor_ == least_count_) return;
        lower_floor();
      } else {
        merge(text_[best]);
      }
    }
  }

  // Frees the memory that only `make` needs. Nothing can be merged afterwards.
  void finish() {
    text_.drop();
    recurring_.reset();
  }

  const TokenTexts& texts() const { return texts_; }
  const std::vector<TokenMerge>& merges() const { return merges_; }

 private:
  using Text = PairedText<TokenPolicy>;

  void record(Crew& crew) {
    text_.record(floor_, crew);
    must_record_ = false;
  }

  void lower_floor() {
    text_.drop_pairs();
    text_.text().pack(symbols_);
    floor_ = std::max(floor_ / 5, least_count_);
    must_record_ = true;
  }

  void merge(const Pair& pair) {
    const uint32_t left = tokens_[pair.left], right = tokens_[pair.right];
    const size_t known = texts_.size();
    const uint32_t token = texts_.merge(left, right);
    if (token < known && occurs_[token]) return start_recurring();
    add_token(token);
    const uint64_t count = text_.merge(pair, symbols_.add(pair.left, pair.right));
    merges_.push_back({left, right, token, count});
  }

  void start_recurring() {
    recurring_ = std::make_unique<RecurringTokens>(text_.text(), symbols_, tokens_, least_count_,
                                                   length_limit_, merges_);
    text_.drop();
  }

  // Adds the token of the next symbol.
  void add_token(uint32_t token) {
    tokens_.push_back(token);
    if (occurs_.size() <= token) occurs_.resize(token + 1);
    occurs_[token] = true;
  }

  const uint64_t least_count_, length_limit_;
  TokenTexts texts_;
  std::vector<TokenMerge> merges_;
  Symbols symbols_;
  std::vector<uint32_t> tokens_;  // the token of each symbol
  std::vector<bool> occurs_;      // whether a symbol has the token
  Text text_;
  uint64_t floor_ = 0;
  bool must_record_ = true;
  std::unique_ptr<RecurringTokens> recurring_;
};

}  // namespace spmcompat
