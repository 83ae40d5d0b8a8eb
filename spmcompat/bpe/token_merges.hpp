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
#include <utility>
#include <vector>

#include "spmcompat/bpe/letters.hpp"
#include "spmcompat/bpe/paired_text.hpp"
#include "spmcompat/bpe/recurring_tokens.hpp"
#include "spmcompat/bpe/text_filler.hpp"
#include "spmcompat/bpe/token_policy.hpp"
#include "spmcompat/bpe/token_symbols.hpp"
#include "spmcompat/bpe/token_texts.hpp"
#include "spmcompat/bpe/token_words.hpp"
#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/segments/segment_counts.hpp"

namespace spmcompat {

struct TokenMergeOptions {
  Letters letters;
  std::vector<std::pair<uint32_t, uint32_t>> tokens;  // the code and the token of each letter
  TokenTexts texts;                                   // special tokens and letters
  uint64_t least_count = 1;   // pairs that occur less often are not merged; at least 1
  uint64_t length_limit = 0;  // see TokenPolicy
};

struct FoundTokens {
  TokenTexts texts;
  std::vector<TokenMerge> merges;
};

class TokenMerger {
 public:
  // For the parameters, see find_tokens below.
  TokenMerger(SegmentCounts words, const TokenMergeOptions& options, size_t wanted, Crew& crew)
      : options_(options),
        found_{options.texts, {}},
        symbols_(options.tokens),
        recurs_(symbols_.letters_share_tokens()),
        text_(std::make_unique<Text>(
            symbols_.symbols(),
            TokenPolicy(symbols_.symbols(), symbols_.tokens(), options.length_limit))) {
    const uint64_t letters = fill_text(std::move(words), SegmentOrder::kMostFrequentFirst,
                                       text_->text(), symbols_.symbols(), crew, options.letters);
    const size_t known = std::min(found_.texts.size(), wanted);
    const uint64_t mean = letters / std::max<size_t>(wanted - known, 1);
    record(std::max(options.least_count, mean < 32 ? 1 : 4 * mean), crew);
  }
  TokenMerger(const TokenMerger&) = delete;

  FoundTokens make(size_t wanted, Crew& crew) {
    while (found_.texts.size() < wanted && !recurs_) {
      crew.check_cancelled();
      const uint32_t best = text_->take_best();
      if (best == Text::kNone) {
        if (floor_ == options_.least_count) break;
        lower_floor(crew);
      } else {
        merge(best, crew);
      }
    }
    if (recurs_) {
      TokenWords words(options_.length_limit);
      words.add(text_->text(), symbols_);
      text_.reset();
      RecurringTokens recurring(std::move(words), options_.least_count, found_.merges);
      recurring.make(wanted, found_.texts, found_.merges, crew);
    }
    return std::move(found_);
  }

 private:
  using Text = PairedText<TokenPolicy>;

  void record(uint64_t floor, Crew& crew) {
    floor_ = floor;
    text_->record(floor, crew);
  }

  void lower_floor(Crew& crew) {
    text_->drop_pairs();
    text_->text().pack(symbols_.symbols());
    record(std::max(floor_ / 5, options_.least_count), crew);
  }

  void merge(uint32_t id, Crew& crew) {
    const uint32_t left = (*text_)[id].left, right = (*text_)[id].right;
    const uint32_t left_token = symbols_.token(left), right_token = symbols_.token(right);
    const uint32_t token = found_.texts.merge(left_token, right_token);
    recurs_ = symbols_.occurs(token);
    if (recurs_) return;
    const uint64_t count = text_->merge(id, symbols_.add(left, right, token));
    found_.merges.push_back({left_token, right_token, token, count});
    crew.advance(1);
  }

  const TokenMergeOptions& options_;
  FoundTokens found_;
  TokenSymbols symbols_;
  bool recurs_;  // whether a merge gives a token that already occurs
  std::unique_ptr<Text> text_;
  uint64_t floor_ = 0;
};

// Makes merges until there are `wanted` tokens, or no pair is left. `options.tokens` must contain all
// letters of the words, which are moved out. Throws std::overflow_error if the text is too large.
inline FoundTokens find_tokens(SegmentCounts& words, const TokenMergeOptions& options,
                               size_t wanted, Crew& crew) {
  TokenMerger merger(std::exchange(words, SegmentCounts()), options, wanted, crew);
  return merger.make(wanted, crew);
}

}  // namespace spmcompat
