// Merges tokens in the texts of several languages if a merge gives a token that already occurs, as
// Hugging Face's ParityBpeTrainer (tokenizers 0.23) does. recurring_tokens.hpp says when this happens.
//
// The result then depends on details of that trainer. The number of letters in a merge decides
// whether a pair is counted where it arises, but an occurrence that was not counted is still
// subtracted from the count when it vanishes. A merge only looks at words in which the pair was
// counted. Development words that become equal by a merge count only once; the library takes any of
// their counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "spmcompat/bpe/token_texts.hpp"
#include "spmcompat/bpe/token_words.hpp"

namespace spmcompat {

// The counts of pairs, and a queue of the pairs that occur.
class PairCounts {
 public:
  explicit PairCounts(const TokenTexts& texts) : queue_(Later{&texts}) {}

  int64_t& operator[](const TokenPair& pair) { return counts_[pair]; }
  // Must be called after the count of a pair has changed.
  void push(const TokenPair& pair) {
    const int64_t count = counts_[pair];
    if (count > 0) queue_.push({count, pair});
  }

  std::optional<TokenPair> pop(uint64_t least_count) {
    while (!queue_.empty()) {
      const Entry best = queue_.top();
      queue_.pop();
      const int64_t count = counts_[best.pair];
      if (count == best.count) {
        if (static_cast<uint64_t>(count) < least_count) return std::nullopt;
        return best.pair;
      }
      push(best.pair);
    }
    return std::nullopt;
  }

 private:
  struct Entry {
    int64_t count;
    TokenPair pair;
  };
  struct Later {
    const TokenTexts* texts;
    bool operator()(const Entry& a, const Entry& b) const { return key(a) < key(b); }
    std::tuple<int64_t, const std::string&, const std::string&> key(const Entry& entry) const {
      return {entry.count, (*texts)[entry.pair.first], (*texts)[entry.pair.second]};
    }
  };

  std::unordered_map<TokenPair, int64_t, TokenPairHash> counts_;
  std::priority_queue<Entry, std::vector<Entry>, Later> queue_;
};

class RecurringLanguages {
 public:
  // The words know their languages. Either all languages have development words, or none has. The
  // texts must outlive the object.
  RecurringLanguages(size_t languages, TokenWords training, bool has_development,
                     const TokenWords& development, uint64_t least_count, const TokenTexts& texts)
      : least_count_(least_count),
        training_(std::move(training)),
        pairs_(languages + 1, PairCounts(texts)),
        has_development_(has_development),
        tokens_now_(languages) {
    training_.for_each_pair(
        [this](const TokenPair& pair, int64_t count, uint32_t word) { change(pair, count, word); });
    push_changed();
    for (const TokenWords::Word& word : (has_development ? development : training_).words()) {
      tokens_now_[word.language] += word.symbols.size() * word.count;
    }
    for (const TokenWords::Word& word : development.words()) {
      std::vector<uint32_t> tokens;
      for (const TokenWords::Symbol& symbol : word.symbols) tokens.push_back(symbol.token);
      std::vector<uint64_t>& counts = development_[tokens];
      counts.resize(languages);
      counts[word.language] += word.count;
    }
  }

  size_t size() const { return tokens_now_.size(); }
  const std::vector<uint64_t>& tokens() const { return tokens_now_; }

  std::optional<TokenPair> take_best(size_t language) { return pairs_[language].pop(least_count_); }

  bool merge(const TokenPair& pair, uint32_t token) {
    const std::unordered_set<uint32_t> words = std::exchange(places_[pair], {});
    std::vector<bool> occurred(size());
    for (const uint32_t word : words) {
      const size_t language = training_.words()[word].language;
      occurred[language] = true;
      const int64_t added = training_.merge(
          word, pair, token, [&](const TokenPair& other, int64_t by) { change(other, by, word); });
      if (!has_development_) tokens_now_[language] += added;
    }
    for (size_t language = 0; language < size(); ++language) {
      if (!occurred[language]) continue;
      pairs_.back()[pair] -= pairs_[language][pair];
      pairs_[language][pair] = 0;
    }
    push_changed();
    merge_development(pair, token);
    return true;
  }

 private:
  // Development words with their counts in each language.
  using Development = std::map<std::vector<uint32_t>, std::vector<uint64_t>>;

  // Changes the count of a pair in the language of a word, and in all languages together.
  void change(const TokenPair& pair, int64_t by, uint32_t word) {
    for (const size_t counts : {training_.words()[word].language, size()}) {
      pairs_[counts][pair] += by;
      changed_.emplace(counts, pair);
    }
    if (by > 0) places_[pair].insert(word);
  }

  void push_changed() {
    for (const auto& [counts, pair] : changed_) pairs_[counts].push(pair);
    changed_.clear();
  }

  void merge_development(const TokenPair& pair, uint32_t token) {
    Development merged;
    for (auto at = development_.begin(); at != development_.end();) {
      std::vector<uint32_t> word = at->first;
      if (!replace(word, pair, token)) {
        ++at;
        continue;
      }
      for (size_t i = 0; i < size(); ++i) {
        tokens_now_[i] -= (at->first.size() - word.size()) * at->second[i];
      }
      merged[std::move(word)] = std::move(at->second);
      at = development_.erase(at);
    }
    for (auto& [word, counts] : merged) development_.insert_or_assign(word, std::move(counts));
  }

  // Returns whether the pair occurred.
  static bool replace(std::vector<uint32_t>& word, const TokenPair& pair, uint32_t token) {
    size_t size = 0;
    for (size_t i = 0; i < word.size(); ++i) {
      const bool is_pair = i + 1 < word.size() && TokenPair(word[i], word[i + 1]) == pair;
      word[size++] = is_pair ? token : word[i];
      i += is_pair ? 1 : 0;
    }
    const bool occurred = size < word.size();
    word.resize(size);
    return occurred;
  }

  uint64_t least_count_;
  TokenWords training_;
  std::vector<PairCounts> pairs_;  // of each language, then of all languages together
  std::set<std::pair<size_t, TokenPair>> changed_;  // the pairs whose counts the merge changed
  // The words in which each pair was counted.
  std::unordered_map<TokenPair, std::unordered_set<uint32_t>, TokenPairHash> places_;
  Development development_;
  bool has_development_;
  std::vector<uint64_t> tokens_now_;
};

}  // namespace spmcompat
