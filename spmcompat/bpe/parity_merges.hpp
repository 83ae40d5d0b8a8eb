// Parity-aware byte-pair merges: before each merge, the language with the highest cost chooses its
// most frequent pair, and the pair is merged in the texts of all languages.
//
// The cost of a language is the number of tokens in its development text, times its ratio, divided
// by its unit (its characters or sentences). Each occurrence of a pair that is merged in that text
// lowers the number by one. Costs are compared as fractions, because rounding would decide ties: if
// two languages have the same cost, the one that was given first chooses. A language chooses the pair with the highest
// count; if counts are equal, the pair with the fewest characters, then the one with the smallest
// text, as in merges.hpp. Pairs that no longer occur in a language are not chosen, and a language
// without pairs no longer chooses.
//
// Each distinct segment is stored once, with its counts in all texts, so a pair is merged once for
// all languages. After a merge, the pairs of every changed segment are counted again.
//
// Source: Foroutan et al. 2025, "Parity-Aware Byte-Pair Encoding", arXiv 2508.04796.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "spmcompat/bpe/merge_queue.hpp"
#include "spmcompat/bpe/symbols.hpp"
#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/segments/segment_counts.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

struct LanguageTexts {
  const SegmentCounts* training;
  const SegmentCounts* development;  // may be the same as `training`
  uint64_t tokens;  // the number of characters in `development`: its tokens before any merge
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

struct ParityOptions {
  size_t wanted;  // the number of merges
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

class ParityMerger {
 public:
  ParityMerger(const std::vector<LanguageTexts>& languages, const PieceRule& rule,
               const ParityOptions& options, Crew& crew)
      : languages_(languages),
        rule_(rule),
        options_(options),
        crew_(crew),
        choices_(languages.size()) {
    for (uint32_t group = 0; group <= all(); ++group) queues_.emplace_back(Pairs{this, group});
    for (uint32_t i = 0; i < all(); ++i) {
      found_.tokens.push_back(languages[i].tokens);
      add_text(i, *languages[i].training, &Use::training);
      add_text(i, *languages[i].development, &Use::development);
    }
    for (uint32_t segment = 0; segment < segments_.size(); ++segment) {
      crew_.check_cancelled();
      add_pairs(segment, [](uint32_t, uint32_t) { return true; });
    }
    push_from(0);
  }
  ParityMerger(const ParityMerger&) = delete;

  // Makes merges until the wanted number is reached, or no language has a pair left.
  ParityMerges make() {
    while (found_.pieces.size() < options_.wanted) {
      const auto [group, pair] = choose();
      if (pair == kNone) break;
      merge(pair);
      found_.chosen_by.push_back(group);
      crew_.advance(1);
    }
    return std::move(found_);
  }

 private:
  struct Use {
    uint32_t language;
    uint64_t training = 0, development = 0;  // the counts of the segment in the two texts
  };
  struct Segment {
    std::vector<uint32_t> symbols;
    std::vector<Use> uses;
  };
  struct SymbolPair {
    uint32_t left, right;
    std::vector<uint32_t> segments;  // segments in which the pair occurs or once occurred
  };
  // The functions that a queue needs. A group is a language, or all languages together.
  struct Pairs {
    const ParityMerger* merger;
    uint32_t group;
    uint64_t count(uint32_t pair) const {
      return merger->counts_[pair * merger->queues_.size() + group];
    }
    bool is_wanted(uint64_t count) const { return count > 0; }
    uint64_t rank(uint32_t pair) const { return merger->length(pair); }
    bool comes_later(uint32_t a, uint32_t b) const { return merger->comes_later(a, b); }
  };
  using Queue = MergeQueue<Pairs>;
  static constexpr uint32_t kNone = Queue::kNone;

  uint32_t all() const { return static_cast<uint32_t>(languages_.size()); }

  void add_text(uint32_t language, const SegmentCounts& text, uint64_t Use::*count);
  template <typename IsNew>
  void add_pairs(uint32_t segment, IsNew is_new);
  template <typename Change>
  void change_counts(uint32_t pair, const Segment& segment, Change change);
  uint32_t find_pair(uint32_t left, uint32_t right);
  void push_from(uint32_t pair);

  std::pair<uint32_t, uint32_t> choose();
  uint32_t costliest(const std::vector<bool>& excluded, bool in_window) const;
  bool chose_too_often(uint32_t language) const;
  void note_choice(uint32_t language);
  uint32_t take_pair(uint32_t group);

  void merge(uint32_t pair);
  bool replace(uint32_t segment, uint32_t left, uint32_t right, uint32_t merged);

  uint32_t length(uint32_t pair) const {
    return symbols_.length(pairs_[pair].left) + symbols_.length(pairs_[pair].right);
  }
  // Two pairs may have the same text. The one with the shorter left part comes first.
  bool comes_later(uint32_t a, uint32_t b) const {
    const SymbolPair& x = pairs_[a];
    const SymbolPair& y = pairs_[b];
    if (symbols_.precedes(y.left, y.right, x.left, x.right)) return true;
    if (symbols_.precedes(x.left, x.right, y.left, y.right)) return false;
    return symbols_.length(x.left) > symbols_.length(y.left);
  }

  const std::vector<LanguageTexts>& languages_;
  const PieceRule rule_;
  const ParityOptions options_;
  Crew& crew_;

  Symbols symbols_;
  CharacterSymbols symbol_of_;
  std::unordered_map<std::string, uint32_t> segment_ids_;
  std::vector<Segment> segments_;
  std::unordered_map<uint64_t, uint32_t> pair_ids_;  // a pair's id; kNone if it cannot be a piece
  std::vector<SymbolPair> pairs_;
  std::vector<uint64_t> counts_;  // the count of each pair in each group
  std::vector<Queue> queues_;     // the queue of each group
  std::unordered_set<std::u32string> piece_texts_;
  std::deque<uint32_t> last_choices_;
  std::vector<size_t> choices_;  // how often each language occurs in last_choices_
  ParityMerges found_;
};

inline void ParityMerger::add_text(uint32_t language, const SegmentCounts& text,
                                   uint64_t Use::*count) {
  text.for_each([&](std::string_view segment, uint64_t added) {
    crew_.check_cancelled();
    const auto id = static_cast<uint32_t>(segments_.size());
    const auto [known, is_new] = segment_ids_.try_emplace(std::string(segment), id);
    if (is_new) {
      segments_.emplace_back();
      for_each_character(segment, [&](char32_t c) {
        uint32_t& symbol = symbol_of_[c];
        if (symbol == CharacterSymbols::kNone) symbol = symbols_.add(c);
        segments_.back().symbols.push_back(symbol);
      });
    }
    std::vector<Use>& uses = segments_[known->second].uses;
    if (uses.empty() || uses.back().language != language) uses.push_back({language});
    uses.back().*count += added;
  });
}

// Adds the pairs of a segment to the counts. If is_new(left, right), the segment is also added to
// the segments of the pair.
template <typename IsNew>
void ParityMerger::add_pairs(uint32_t id, IsNew is_new) {
  const Segment& segment = segments_[id];
  for (size_t i = 1; i < segment.symbols.size(); ++i) {
    const uint32_t left = segment.symbols[i - 1], right = segment.symbols[i];
    const uint32_t pair = find_pair(left, right);
    if (pair == kNone) continue;
    change_counts(pair, segment, [](uint64_t& count, uint64_t by) { count += by; });
    std::vector<uint32_t>& found_in = pairs_[pair].segments;
    if (is_new(left, right) && (found_in.empty() || found_in.back() != id)) found_in.push_back(id);
  }
}

template <typename Change>
void ParityMerger::change_counts(uint32_t pair, const Segment& segment, Change change) {
  uint64_t* counts = counts_.data() + pair * queues_.size();
  for (const Use& use : segment.uses) {
    change(counts[use.language], use.training);
    change(counts[all()], use.training);
  }
}

// Returns the id of a pair, or kNone if its text cannot be a piece. Adds the pair if it is new.
inline uint32_t ParityMerger::find_pair(uint32_t left, uint32_t right) {
  const auto [known, is_new] = pair_ids_.try_emplace(uint64_t{left} << 32 | right, kNone);
  if (!is_new) return known->second;
  std::u32string text(symbols_[left]);
  text += symbols_[right];
  if (!rule_.allows(text.data(), text.size())) return kNone;
  known->second = static_cast<uint32_t>(pairs_.size());
  pairs_.push_back({left, right, {}});
  counts_.resize(counts_.size() + queues_.size());
  return known->second;
}

// Adds the pair with this id, and all pairs with higher ids, to the queues.
inline void ParityMerger::push_from(uint32_t pair) {
  for (; pair < pairs_.size(); ++pair) {
    crew_.check_cancelled();
    for (uint32_t group = 0; group <= all(); ++group) {
      const uint64_t count = Pairs{this, group}.count(pair);
      if (count > 0) queues_[group].push(count, pair);
    }
  }
}

// Returns the group that chooses the next merge, and the chosen pair, or kNone if no pair is left.
inline std::pair<uint32_t, uint32_t> ParityMerger::choose() {
  if (found_.pieces.size() < options_.first_merges) return {all(), take_pair(all())};
  std::vector<bool> excluded(all());
  for (;;) {
    uint32_t language = costliest(excluded, true);
    // The window is ignored if it excludes every language that still has pairs.
    if (language == kNone) language = costliest(excluded, false);
    if (language == kNone) return {all(), kNone};
    const uint32_t pair = take_pair(language);
    if (pair != kNone) {
      note_choice(language);
      return {language, pair};
    }
    excluded[language] = true;
  }
}

inline uint32_t ParityMerger::costliest(const std::vector<bool>& excluded, bool in_window) const {
  uint32_t best = kNone;
  LanguageTexts::Cost highest{};
  for (uint32_t i = 0; i < all(); ++i) {
    if (excluded[i] || (in_window && chose_too_often(i))) continue;
    const LanguageTexts::Cost cost = languages_[i].cost(found_.tokens[i]);
    if (best != kNone && !exceeds(cost, highest)) continue;
    best = i;
    highest = cost;
  }
  return best;
}

inline bool ParityMerger::chose_too_often(uint32_t language) const {
  return options_.window > 0 && choices_[language] > options_.most_choices;
}

inline void ParityMerger::note_choice(uint32_t language) {
  if (options_.window == 0) return;
  last_choices_.push_back(language);
  ++choices_[language];
  if (last_choices_.size() <= options_.window) return;
  --choices_[last_choices_.front()];
  last_choices_.pop_front();
}

// Removes pairs from the queue of a group, the best pair first, until one has a text that is not a
// piece yet. Returns that pair, or kNone if there is none.
inline uint32_t ParityMerger::take_pair(uint32_t group) {
  for (;;) {
    const uint32_t pair = queues_[group].pop();
    if (pair == kNone) return kNone;
    std::u32string text(symbols_[pairs_[pair].left]);
    text += symbols_[pairs_[pair].right];
    if (piece_texts_.insert(std::move(text)).second) return pair;
  }
}

inline void ParityMerger::merge(uint32_t pair) {
  const uint32_t left = pairs_[pair].left, right = pairs_[pair].right;
  const auto first_new = static_cast<uint32_t>(pairs_.size());
  const uint32_t merged = symbols_.add(left, right);
  found_.pieces.push_back(symbols_.utf8(merged));
  std::vector<uint32_t> ids;
  ids.swap(pairs_[pair].segments);
  for (const uint32_t id : ids) {
    crew_.check_cancelled();
    if (!replace(id, left, right, merged)) continue;
    add_pairs(id, [merged](uint32_t a, uint32_t b) { return a == merged || b == merged; });
  }
  push_from(first_new);
}

// Merges a pair in a segment from left to right, and subtracts the old pairs of the segment from
// the counts. Returns whether the pair occurs.
inline bool ParityMerger::replace(uint32_t id, uint32_t left, uint32_t right, uint32_t merged) {
  Segment& segment = segments_[id];
  const std::vector<uint32_t>& old = segment.symbols;
  std::vector<uint32_t> symbols;
  for (size_t i = 0; i < old.size(); ++i) {
    const bool occurs = i + 1 < old.size() && old[i] == left && old[i + 1] == right;
    symbols.push_back(occurs ? merged : old[i]);
    if (occurs) ++i;
  }
  const size_t fewer = old.size() - symbols.size();
  if (fewer == 0) return false;
  for (size_t i = 1; i < old.size(); ++i) {
    const uint32_t pair = find_pair(old[i - 1], old[i]);
    if (pair == kNone) continue;
    change_counts(pair, segment, [](uint64_t& count, uint64_t by) { count -= by; });
  }
  for (const Use& use : segment.uses) found_.tokens[use.language] -= fewer * use.development;
  segment.symbols.swap(symbols);
  return true;
}

inline ParityMerges parity_merges(const std::vector<LanguageTexts>& languages,
                                  const PieceRule& rule, const ParityOptions& options,
                                  Crew& crew) {
  return ParityMerger(languages, rule, options, crew).make();
}

}  // namespace spmcompat
