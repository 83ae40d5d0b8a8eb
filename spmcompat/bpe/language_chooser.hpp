// Which language chooses the next merge, as in Hugging Face's ParityBpeTrainer (tokenizers 0.23).
//
// The cost of a language is the number of its tokens. With ratios, it is the negated compression of
// its text (the number of tokens at first, divided by the number now), divided by its ratio. The
// language with the highest cost chooses; of equal costs, the first one. The result depends on how
// these numbers are rounded, and on what the library does if no language may choose: it takes the
// first one, even if that one is exhausted, which means that it has no pair left.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "spmcompat/bpe/last_choices.hpp"

namespace spmcompat {

struct ChooserOptions {
  std::vector<double> ratios;  // of each language; empty if costs are numbers of tokens
  // If the window is above 0, a language must not choose while its share of the last `window` choices
  // is above `largest_share`.
  size_t window = 0;
  double largest_share = 0;
};

class LanguageChooser {
 public:
  // `tokens` has the number of tokens of each language before any merge.
  LanguageChooser(const ChooserOptions& options, const std::vector<uint64_t>& tokens)
      : options_(options),
        first_tokens_(tokens),
        exhausted_(tokens.size()),
        last_choices_(tokens.size(), options.window) {}

  // `tokens` has the current number of tokens of each language. Not all languages may be exhausted.
  uint32_t choose(const std::vector<uint64_t>& tokens) {
    const std::vector<double> costs = costs_of(tokens);
    const uint32_t costliest = find_costliest(costs, exhausted_);
    uint32_t choice = costliest == kNone ? 0 : costliest;
    if (options_.window > 0) choice = choose_in_window(costs);
    // From here on, the library would choose an exhausted language again and again.
    if (choice == kNone || (costliest == kNone && exhausted_[choice])) {
      library_would_end_ = false;
      choice = costliest == kNone ? first_left() : costliest;
    }
    last_choices_.add(choice);
    return choice;
  }

  void exhaust(uint32_t language) { exhausted_[language] = true; }
  bool all_exhausted() const { return first_left() == exhausted_.size(); }
  bool library_would_end() const { return library_would_end_; }

 private:
  static constexpr uint32_t kNone = 0xffffffffu;

  std::vector<double> costs_of(const std::vector<uint64_t>& tokens) const {
    std::vector<double> costs(tokens.begin(), tokens.end());
    for (size_t i = 0; i < options_.ratios.size(); ++i) {
      costs[i] = -((static_cast<double>(first_tokens_[i]) / costs[i]) / options_.ratios[i]);
    }
    return costs;
  }

  // The cost of a language without tokens is NaN with ratios. It is not above any other cost.
  static uint32_t find_costliest(const std::vector<double>& costs,
                                 const std::vector<bool>& excluded) {
    uint32_t found = kNone;
    double highest = -std::numeric_limits<double>::infinity();
    for (uint32_t i = 0; i < costs.size(); ++i) {
      if (excluded[i] || !(costs[i] > highest)) continue;
      found = i;
      highest = costs[i];
    }
    return found;
  }

  // Returns kNone if the library would look for a language forever.
  uint32_t choose_in_window(const std::vector<double>& costs) const {
    std::vector<bool> excluded = exhausted_, tried(costs.size());
    for (;;) {
      uint32_t choice = find_costliest(costs, excluded);
      if (choice == kNone) choice = 0;
      if (!chose_too_often(choice)) return choice;
      if (tried[choice]) return kNone;
      tried[choice] = excluded[choice] = true;
      if (std::count(tried.begin(), tried.end(), false) == 0) return choice;
    }
  }

  bool chose_too_often(uint32_t language) const {
    const auto choices = static_cast<double>(last_choices_[language]);
    return choices / static_cast<double>(options_.window) > options_.largest_share;
  }

  // The first language that is not exhausted.
  uint32_t first_left() const {
    return static_cast<uint32_t>(std::find(exhausted_.begin(), exhausted_.end(), false) -
                                 exhausted_.begin());
  }

  const ChooserOptions& options_;
  const std::vector<uint64_t> first_tokens_;
  std::vector<bool> exhausted_;
  LastChoices last_choices_;
  bool library_would_end_ = true;
};

}  // namespace spmcompat
