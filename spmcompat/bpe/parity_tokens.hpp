// The merges of a tokenizer.json: parity-aware merges as Hugging Face's ParityBpeTrainer (tokenizers
// 0.23) chooses them.
//
// The first merges are chosen by the counts in all languages together. After that, LanguageChooser
// says which language chooses the pair that is most frequent in its text, and the pair is merged in
// the texts of all languages.
//
// A merge whose text is already a token gets the id of that token. If the token occurs in a text, all
// merges are made again by RecurringLanguages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/bpe/language_chooser.hpp"
#include "spmcompat/bpe/letters.hpp"
#include "spmcompat/bpe/paired_text.hpp"
#include "spmcompat/bpe/pairs.hpp"
#include "spmcompat/bpe/recurring_languages.hpp"
#include "spmcompat/bpe/symbols.hpp"
#include "spmcompat/bpe/text_filler.hpp"
#include "spmcompat/bpe/token_merges.hpp"
#include "spmcompat/bpe/token_policy.hpp"
#include "spmcompat/bpe/token_texts.hpp"
#include "spmcompat/bpe/token_words.hpp"
#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/segments/segment_counts.hpp"

namespace spmcompat {

// The words of a language, which are moved out. No two may be the same object.
struct LanguageWords {
  SegmentCounts* training;
  SegmentCounts* development;  // null if no language has development words
};

struct ParityTokenMergeOptions : TokenMergeOptions {
  size_t wanted = 0;        // the number of merges
  size_t first_merges = 0;  // how many merges are chosen by the counts in all languages
  ChooserOptions chooser;
};

struct ParityTokens {
  TokenTexts texts;
  std::vector<TokenMerge> merges;
  bool library_would_end = true;
};

// The texts of all languages with their pairs. No two symbols have the same token.
class PairedLanguages {
 public:
  // `texts` must outlive the object. Throws std::overflow_error if a text is too large.
  PairedLanguages(const std::vector<LanguageWords>& languages,
                  const ParityTokenMergeOptions& options, const TokenTexts& texts, Crew& crew)
      : options_(options), texts_(texts), known_(Letters::kCodes) {
    for (const auto& [code, token] : options.tokens) {
      known_[code] = true;
      symbols_.add(char32_t{code});
      add_token(token);
    }
    letters_ = symbols_.size();
    if (options.first_merges > 0) {
      SegmentCounts all;
      for (const LanguageWords& language : languages) all.add(*language.training);
      all_ = text_of(std::move(all), crew).text;
    }
    for (const LanguageWords& language : languages) add_language(language, crew);
  }
  PairedLanguages(const PairedLanguages&) = delete;

  size_t size() const { return training_.size(); }
  // The number of tokens in the development words of each language, or else in its training words.
  const std::vector<uint64_t>& tokens() const { return tokens_now_; }

  std::optional<TokenPair> take_best(uint32_t language) {
    Text& text = language == size() ? *all_ : *training_[language];
    if (language < size()) all_.reset();
    const uint32_t best = text.take_best();
    if (best == Text::kNone || text[best].count < options_.least_count) return std::nullopt;
    best_ = text[best];
    return TokenPair(tokens_[best_.left], tokens_[best_.right]);
  }

  // Merges the pair that was taken last. Returns false if the token already occurs in a text; then
  // nothing can be merged any more.
  bool merge(const TokenPair&, uint32_t token) {
    if (token < occurs_.size() && occurs_[token]) return false;
    add_token(token);
    const uint32_t merged = symbols_.add(best_.left, best_.right);
    if (all_) merge(*all_, merged);
    for (size_t i = 0; i < size(); ++i) {
      const uint64_t in_training = merge(*training_[i], merged);
      tokens_now_[i] -= development_.empty() ? in_training : merge(*development_[i], merged);
    }
    return true;
  }

  bool letters_share_tokens() const { return letters_share_tokens_; }

  // Drops everything and returns the words without merges.
  RecurringLanguages split() {
    std::vector<TokenWords> training, development;
    for (const auto& text : training_) training.push_back(words_of(*text));
    for (const auto& text : development_) development.push_back(words_of(*text));
    all_.reset();
    return RecurringLanguages(std::move(training), development, options_.least_count, texts_);
  }

 private:
  using Text = PairedText<ParityTokenPolicy>;
  struct Filled {
    std::unique_ptr<Text> text;
    uint64_t letters;
  };

  void add_language(const LanguageWords& language, Crew& crew) {
    Filled training = text_of(std::exchange(*language.training, SegmentCounts()), crew);
    training_.push_back(std::move(training.text));
    tokens_now_.push_back(training.letters);
    if (language.development == nullptr) return;
    Filled development = text_of(known_words(*language.development), crew);
    *language.development = SegmentCounts();
    development_.push_back(std::move(development.text));
    tokens_now_.back() = development.letters;
  }

  // Leaves out development words that contain a letter without a token.
  SegmentCounts known_words(const SegmentCounts& words) const {
    Letters letters = options_.letters;
    letters.keep_all();
    SegmentCounts found;
    words.for_each([&](std::string_view word, uint64_t count) {
      bool is_known = true;
      letters.for_each(word, [&](char32_t code) { is_known = is_known && known_[code]; });
      if (is_known) found.add(word, count);
    });
    return found;
  }

  Filled text_of(SegmentCounts words, Crew& crew) {
    const ParityTokenPolicy policy(symbols_, tokens_, options_.length_limit, texts_);
    auto text = std::make_unique<Text>(symbols_, policy);
    const uint64_t letters = fill_text(std::move(words), SegmentOrder::kMostFrequentFirst,
                                       text->text(), symbols_, crew, options_.letters);
    // Any pair that occurs may be chosen by another language, so all of them are recorded.
    text->record(1, crew);
    return {std::move(text), letters};
  }

  // Adds the token of the next symbol.
  void add_token(uint32_t token) {
    tokens_.push_back(token);
    if (occurs_.size() <= token) occurs_.resize(token + 1);
    letters_share_tokens_ = letters_share_tokens_ || occurs_[token];
    occurs_[token] = true;
  }

  // Returns how often the pair occurred.
  uint64_t merge(Text& text, uint32_t merged) const {
    const uint32_t pair = text.find(best_.left, best_.right);
    if (pair == Text::kNone) return 0;
    const uint64_t count = text.merge(text[pair], merged);
    text.forget(pair);
    return count;
  }

  TokenWords words_of(Text& text) const {
    text.drop_pairs();
    text.text().split_into_characters(symbols_, letters_);
    TokenWords words(text.text(), symbols_, tokens_, options_.length_limit);
    text.drop();
    return words;
  }

  const ParityTokenMergeOptions& options_;
  const TokenTexts& texts_;
  std::vector<bool> known_;  // whether a code is that of a letter with a token
  Symbols symbols_;
  uint32_t letters_ = 0;          // the number of symbols that are letters
  std::vector<uint32_t> tokens_;  // the token of each symbol
  std::vector<bool> occurs_;      // whether a symbol has the token
  bool letters_share_tokens_ = false;
  std::unique_ptr<Text> all_;  // all training words; null once the languages choose
  std::vector<std::unique_ptr<Text>> training_, development_;
  std::vector<uint64_t> tokens_now_;
  Pair best_{};
};

// `Languages` is PairedLanguages or RecurringLanguages. Returns false if a token recurs.
template <typename Languages>
bool make_parity_tokens(Languages& languages, const ParityTokenMergeOptions& options, Crew& crew,
                        ParityTokens& found) {
  found.merges.clear();
  LanguageChooser chooser(options.chooser, languages.tokens());
  while (found.merges.size() < options.wanted && !chooser.all_exhausted()) {
    crew.check_cancelled();
    const bool languages_choose = found.merges.size() >= options.first_merges;
    const auto all = static_cast<uint32_t>(languages.size());
    const uint32_t language = languages_choose ? chooser.choose(languages.tokens()) : all;
    const std::optional<TokenPair> best = languages.take_best(language);
    if (best) {
      const uint32_t token = found.texts.merge(best->first, best->second);
      if (!languages.merge(*best, token)) return false;
      found.merges.push_back({best->first, best->second, token, 0});
      crew.advance(1);
    } else if (languages_choose) {
      chooser.exhaust(language);
    } else {
      break;
    }
  }
  found.library_would_end = chooser.library_would_end();
  return true;
}

inline ParityTokens parity_tokens(const std::vector<LanguageWords>& words,
                                  const ParityTokenMergeOptions& options, Crew& crew) {
  ParityTokens found{options.texts, {}};
  PairedLanguages languages(words, options, found.texts, crew);
  if (languages.letters_share_tokens() || !make_parity_tokens(languages, options, crew, found)) {
    found.texts = options.texts;
    RecurringLanguages recurring = languages.split();
    make_parity_tokens(recurring, options, crew, found);
  }
  return found;
}

}  // namespace spmcompat
