// The texts of several languages with their pairs, of which a pair is merged in all texts at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "spmcompat/bpe/paired_text.hpp"
#include "spmcompat/bpe/symbols.hpp"
#include "spmcompat/bpe/text_filler.hpp"
#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/segments/segment_counts.hpp"

namespace spmcompat {

// The segments of a language, which are moved out. No two may be the same object.
struct LanguageSegments {
  SegmentCounts* training;
  SegmentCounts* development;  // null if the text for training is also the one for development
};

template <typename Policy>
struct PairedTexts {
  using Text = PairedText<Policy>;

  // All texts share the symbols, which must outlive the object. With `joins`, the pairs of all texts
  // for training together are recorded, too. Throws std::overflow_error if a text is too large.
  template <typename Language, typename Letters>
  PairedTexts(Symbols& symbols, const Policy& policy, const std::vector<Language>& languages,
              const Letters& letters, bool joins, Crew& crew) {
    uint64_t size = 0;
    const auto text_of = [&](SegmentCounts segments) {
      auto text = std::make_unique<Text>(symbols, policy);
      size = fill_text(std::move(segments), SegmentOrder::kMostFrequentFirst, text->text(), symbols,
                       crew, letters);
      // Any pair that occurs may be chosen by another language, so all of them are recorded.
      text->record(1, crew);
      return text;
    };
    if (joins) {
      SegmentCounts joined;
      for (const Language& language : languages) joined.add(*language.training);
      all = text_of(std::move(joined));
    }
    for (const Language& language : languages) {
      training.push_back(text_of(std::exchange(*language.training, SegmentCounts())));
      development.push_back(nullptr);
      if (language.development != nullptr) {
        development.back() = text_of(std::exchange(*language.development, SegmentCounts()));
      }
      tokens.push_back(size);
    }
  }

  // Merges a pair into a new symbol.
  void merge(uint32_t left, uint32_t right, uint32_t merged) {
    const auto merge_in = [&](Text& text) -> uint64_t {
      const uint32_t pair = text.find(left, right);
      return pair == Text::kNone ? 0 : text.merge(pair, merged);
    };
    if (all) merge_in(*all);
    for (size_t i = 0; i < training.size(); ++i) {
      uint64_t fewer = merge_in(*training[i]);
      if (development[i]) fewer = merge_in(*development[i]);
      tokens[i] -= fewer;
    }
  }

  std::vector<std::unique_ptr<Text>> training;     // the text of each language
  std::vector<std::unique_ptr<Text>> development;  // null where it is the text for training
  std::unique_ptr<Text> all;     // all texts for training; null once the languages choose
  std::vector<uint64_t> tokens;  // for each language: the number of tokens for development
};

}  // namespace spmcompat
