// Parity-aware byte-pair merges: before each merge, the language with the highest cost chooses its
// most frequent pair, and the pair is merged in the texts of all languages.
//
// The cost of a language is the number of tokens in its development text, times its ratio, divided
// by its unit (its characters or sentences). Each occurrence of a pair that is merged in that text
// lowers the number by one. Costs are compared as fractions, because rounding would decide ties: if
// two languages have the same cost, the one that was given first chooses. A language chooses the
// pair with the highest count; if counts are equal, as PiecePolicy decides. Pairs that no longer
// occur in a language are not chosen, and a language without pairs no longer chooses.
//
// Source: Foroutan et al. 2025, "Parity-Aware Byte-Pair Encoding", arXiv 2508.04796.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "spmcompat/bpe/last_choices.hpp"
#include "spmcompat/bpe/paired_texts.hpp"
#include "spmcompat/bpe/pairs.hpp"
#include "spmcompat/bpe/piece_policy.hpp"
#include "spmcompat/bpe/symbols.hpp"
#include "spmcompat/bpe/text_filler.hpp"
#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/runtime/crew.hpp"

namespace spmcompat {

struct LanguageTexts : LanguageSegments {
  uint64_t tokens;  // the number of characters for development: the tokens before any merge
  uint64_t ratio, ratio_divisor;  // the ratio is the quotient of these two
  uint64_t unit;

  struct Cost {
    unsigned __int128 numerator, denominator;
  };
  Cost cost(uint64_t tokens_now) const {
    return {static_cast<unsigned __int128>(tokens_now) * ratio,
            static_cast<unsigned __int128>(unit) * ratio_divisor};
  }
};

// Compares the whole parts of two costs, and then the inverses of what remains, by the same method.
inline bool exceeds(LanguageTexts::Cost a, LanguageTexts::Cost b) {
  for (;;) {
    const auto a_whole = a.numerator / a.denominator, b_whole = b.numerator / b.denominator;
    if (a_whole != b_whole) return a_whole > b_whole;
    a.numerator %= a.denominator;
    b.numerator %= b.denominator;
    if (a.numerator == 0 || b.numerator == 0) return a.numerator > 0;
    std::swap(a, b);
    std::swap(a.numerator, a.denominator);
    std::swap(b.numerator, b.denominator);
  }
}

struct ParityMergeOptions {
  size_t wanted;        // the number of merges
  size_t first_merges;  // how many merges are chosen by the counts in all languages together
  // If the window is above 0, a language must not choose the next merge while it has made more than
  // `most_choices` of the last `window` choices.
  size_t window, most_choices;
};

struct ParityMerges {
  std::vector<std::string> pieces;
  // For each merge: the language that chose it, or the number of languages if the counts in all
  // languages together chose it.
  std::vector<uint32_t> chosen_by;
  std::vector<uint64_t> tokens;  // for each language: the number of its tokens after the last merge
};

// Two pairs of one language may have the same text. The one with the shorter left part comes first.
class ParityPolicy : public PiecePolicy {
 public:
  using PiecePolicy::PiecePolicy;

  bool comes_later(const Pair& a, const Pair& b) const {
    if (PiecePolicy::comes_later(a, b)) return true;
    if (PiecePolicy::comes_later(b, a)) return false;
    return symbols_.length(a.left) > symbols_.length(b.left);
  }
};

class ParityMerger {
 public:
  ParityMerger(const std::vector<LanguageTexts>& languages, const PieceRule& rule,
               const ParityMergeOptions& options, Crew& crew)
      : languages_(languages),
        options_(options),
        pieces_(symbols_),
        texts_(symbols_, ParityPolicy(symbols_, rule), languages, Characters(),
               options.first_merges > 0, crew),
        last_choices_(languages.size(), options.window) {
    for (size_t i = 0; i < languages.size(); ++i) texts_.tokens[i] = languages[i].tokens;
  }
  ParityMerger(const ParityMerger&) = delete;

  // Makes merges until the wanted number is reached, or no language has a pair left.
  ParityMerges make(Crew& crew) {
    ParityMerges found;
    while (found.pieces.size() < options_.wanted) {
      crew.check_cancelled();
      if (found.pieces.size() == options_.first_merges) texts_.all.reset();
      const Choice choice = texts_.all ? take_pair(*texts_.all, count()) : choose();
      if (choice.merged == kNone) break;
      found.pieces.push_back(symbols_.utf8(choice.merged));
      found.chosen_by.push_back(choice.language);
      texts_.merge(choice.left, choice.right, choice.merged);
      crew.advance(1);
    }
    found.tokens = std::move(texts_.tokens);
    return found;
  }

 private:
  using Text = PairedText<ParityPolicy>;
  static constexpr uint32_t kNone = Text::kNone;

  struct Choice {
    uint32_t language;
    uint32_t left, right;
    uint32_t merged;  // the new symbol; kNone if there is no pair
  };

  // The number of languages.
  uint32_t count() const { return static_cast<uint32_t>(languages_.size()); }

  // Returns what the language that may choose has chosen.
  Choice choose() {
    std::vector<bool> excluded(count());
    for (;;) {
      uint32_t language = costliest(excluded, true);
      // The window is ignored if it excludes every language that still has pairs.
      if (language == kNone) language = costliest(excluded, false);
      if (language == kNone) return {kNone, kNone, kNone, kNone};
      const Choice choice = take_pair(*texts_.training[language], language);
      if (choice.merged != kNone) {
        last_choices_.add(language);
        return choice;
      }
      excluded[language] = true;
    }
  }

  uint32_t costliest(const std::vector<bool>& excluded, bool in_window) const {
    uint32_t best = kNone;
    LanguageTexts::Cost highest{};
    for (uint32_t i = 0; i < count(); ++i) {
      if (excluded[i] || (in_window && chose_too_often(i))) continue;
      const LanguageTexts::Cost cost = languages_[i].cost(texts_.tokens[i]);
      if (best != kNone && !exceeds(cost, highest)) continue;
      best = i;
      highest = cost;
    }
    return best;
  }

  bool chose_too_often(uint32_t language) const {
    return options_.window > 0 && last_choices_[language] > options_.most_choices;
  }

  // Takes pairs of a text, the best pair first, until one has a text that is not a piece yet. Adds the
  // symbol of that pair.
  Choice take_pair(Text& text, uint32_t language) {
    for (;;) {
      const uint32_t id = text.take_best();
      if (id == kNone) return {language, kNone, kNone, kNone};
      const uint32_t left = text[id].left, right = text[id].right;
      const uint32_t merged = symbols_.add(left, right);
      if (pieces_.add(merged)) return {language, left, right, merged};
      symbols_.keep(merged);
    }
  }

  const std::vector<LanguageTexts>& languages_;
  const ParityMergeOptions options_;

  Symbols symbols_;
  PieceTexts pieces_;
  PairedTexts<ParityPolicy> texts_;
  LastChoices last_choices_;
};

inline ParityMerges parity_merges(const std::vector<LanguageTexts>& languages,
                                  const PieceRule& rule, const ParityMergeOptions& options,
                                  Crew& crew) {
  return ParityMerger(languages, rule, options, crew).make(crew);
}

}  // namespace spmcompat
