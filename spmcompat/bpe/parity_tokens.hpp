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
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/bpe/language_chooser.hpp"
#include "spmcompat/bpe/letters.hpp"
#include "spmcompat/bpe/paired_texts.hpp"
#include "spmcompat/bpe/recurring_languages.hpp"
#include "spmcompat/bpe/token_merges.hpp"
#include "spmcompat/bpe/token_policy.hpp"
#include "spmcompat/bpe/token_symbols.hpp"
#include "spmcompat/bpe/token_texts.hpp"
#include "spmcompat/bpe/token_words.hpp"
#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/segments/segment_counts.hpp"

namespace spmcompat {

struct ParityTokenOptions {
  size_t wanted = 0;        // the number of merges
  size_t first_merges = 0;  // how many merges are chosen by the counts in all languages
  ChooserOptions chooser;
};

struct ParityTokens : FoundTokens {
  bool library_would_end = true;
};

// Returns the words of which all letters have a token.
inline SegmentCounts known_words(const SegmentCounts& words, const TokenMergeOptions& options) {
  std::vector<bool> known(Letters::kCodes);
  for (const auto& [code, token] : options.tokens) known[code] = true;
  Letters letters = options.letters;
  letters.keep_all();
  SegmentCounts found;
  words.for_each([&](std::string_view word, uint64_t count) {
    bool is_known = true;
    letters.for_each(word, [&](char32_t code) { is_known = is_known && known[code]; });
    if (is_known) found.add(word, count);
  });
  return found;
}

// The texts of all languages with their pairs. No two symbols have the same token.
class PairedLanguages {
 public:
  // `texts` must outlive the object. Throws std::overflow_error if a text is too large.
  PairedLanguages(const std::vector<LanguageSegments>& languages, bool joins,
                  const TokenMergeOptions& options, const TokenTexts& texts, Crew& crew)
      : options_(options),
        texts_(texts),
        symbols_(options.tokens),
        paired_(
            symbols_.symbols(),
            ParityTokenPolicy(symbols_.symbols(), symbols_.tokens(), options.length_limit, texts),
            languages, options.letters, joins, crew) {}
  PairedLanguages(const PairedLanguages&) = delete;

  size_t size() const { return paired_.training.size(); }
  // The number of tokens in the development words of each language, or else in its training words.
  const std::vector<uint64_t>& tokens() const { return paired_.tokens; }
  bool letters_share_tokens() const { return symbols_.letters_share_tokens(); }

  std::optional<TokenPair> take_best(size_t language) {
    Text& text = language == size() ? *paired_.all : *paired_.training[language];
    if (language < size()) paired_.all.reset();
    const uint32_t best = text.take_best();
    if (best == Text::kNone || text[best].count < options_.least_count) return std::nullopt;
    best_ = text[best];
    return TokenPair(symbols_.token(best_.left), symbols_.token(best_.right));
  }

  // Merges the pair that was taken last. Returns false if the token already occurs in a text; then
  // nothing can be merged any more.
  bool merge(const TokenPair&, uint32_t token) {
    if (symbols_.occurs(token)) return false;
    paired_.merge(best_.left, best_.right, symbols_.add(best_.left, best_.right, token));
    return true;
  }

  // Drops everything and returns the words without merges.
  RecurringLanguages split() {
    paired_.all.reset();
    const bool has_development = paired_.development[0] != nullptr;
    TokenWords training = words_of(paired_.training);
    return RecurringLanguages(size(), std::move(training), has_development,
                              words_of(paired_.development), options_.least_count, texts_);
  }

 private:
  using Text = PairedText<ParityTokenPolicy>;

  TokenWords words_of(std::vector<std::unique_ptr<Text>>& texts) const {
    TokenWords words(options_.length_limit);
    for (size_t language = 0; language < texts.size(); ++language) {
      const std::unique_ptr<Text> text = std::move(texts[language]);
      if (text == nullptr) continue;
      text->drop_pairs();
      text->text().split_into_characters(symbols_.symbols(), symbols_.letters());
      words.add(text->text(), symbols_, language);
    }
    return words;
  }

  const TokenMergeOptions& options_;
  const TokenTexts& texts_;
  TokenSymbols symbols_;
  PairedTexts<ParityTokenPolicy> paired_;
  Pair best_{};
};

// `Languages` is PairedLanguages or RecurringLanguages. Returns false if a token recurs.
template <typename Languages>
bool make_parity_tokens(Languages& languages, const ParityTokenOptions& options, Crew& crew,
                        ParityTokens& found) {
  found.merges.clear();
  LanguageChooser chooser(options.chooser, languages.tokens());
  while (found.merges.size() < options.wanted && !chooser.all_exhausted()) {
    crew.check_cancelled();
    const bool languages_choose = found.merges.size() >= options.first_merges;
    const size_t language =
        languages_choose ? chooser.choose(languages.tokens()) : languages.size();
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

// The words are moved out. Either all languages or none have development words.
inline ParityTokens find_parity_tokens(const std::vector<LanguageSegments>& words,
                                       const TokenMergeOptions& options,
                                       const ParityTokenOptions& parity, Crew& crew) {
  for (const LanguageSegments& language : words) {
    if (language.development == nullptr) continue;
    *language.development = known_words(*language.development, options);
  }
  ParityTokens found{{options.texts, {}}};
  PairedLanguages languages(words, parity.first_merges > 0, options, found.texts, crew);
  if (languages.letters_share_tokens() || !make_parity_tokens(languages, parity, crew, found)) {
    found.texts = options.texts;
    RecurringLanguages recurring = languages.split();
    make_parity_tokens(recurring, parity, crew, found);
  }
  return found;
}

}  // namespace spmcompat
