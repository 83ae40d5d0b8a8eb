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
  // `development` has the words of each language, or is empty. The texts must outlive the object.
  RecurringLanguages(std::vector<TokenWords> training, const std::vector<TokenWords>& development,
                     uint64_t least_count, const TokenTexts& texts)
      : least_count_(least_count), all_(texts), tokens_now_(training.size()) {
    for (TokenWords& words : training) add_training(std::move(words), texts);
    for (size_t i = 0; i < development.size(); ++i) add_development(development[i], i);
    has_development_ = !development.empty();
    for (size_t i = 0; i < size(); ++i) {
      if (!has_development_) tokens_now_[i] = count_tokens(languages_[i].words);
    }
  }

  size_t size() const { return languages_.size(); }
  const std::vector<uint64_t>& tokens() const { return tokens_now_; }

  std::optional<TokenPair> take_best(uint32_t language) {
    return (language == size() ? all_ : languages_[language].pairs).pop(least_count_);
  }

  bool merge(const TokenPair& pair, uint32_t token) {
    std::unordered_set<TokenPair, TokenPairHash> changed{pair};
    for (size_t i = 0; i < size(); ++i) {
      const int64_t change = merge(languages_[i], pair, token, changed);
      if (!has_development_) tokens_now_[i] += change;
    }
    for (const TokenPair& one : changed) {
      all_[one] = 0;
      for (Language& language : languages_) all_[one] += language.pairs[one];
      all_.push(one);
    }
    merge_development(pair, token);
    return true;
  }

 private:
  struct Language {
    TokenWords words;
    PairCounts pairs;
    // The words in which each pair was counted.
    std::unordered_map<TokenPair, std::unordered_set<uint32_t>, TokenPairHash> places{};
  };
  // Development words with their counts in each language.
  using Development = std::map<std::vector<uint32_t>, std::vector<uint64_t>>;

  static uint64_t count_tokens(const TokenWords& words) {
    uint64_t tokens = 0;
    for (const TokenWords::Word& word : words.words()) tokens += word.symbols.size() * word.count;
    return tokens;
  }

  void add_training(TokenWords words, const TokenTexts& texts) {
    Language language{std::move(words), PairCounts(texts)};
    std::unordered_set<TokenPair, TokenPairHash> found;
    language.words.for_each_pair([&](const TokenPair& pair, int64_t count, uint32_t word) {
      found.insert(pair);
      language.pairs[pair] += count;
      language.places[pair].insert(word);
      all_[pair] += count;
    });
    for (const TokenPair& pair : found) {
      language.pairs.push(pair);
      all_.push(pair);
    }
    languages_.push_back(std::move(language));
  }

  void add_development(const TokenWords& words, size_t language) {
    for (const TokenWords::Word& word : words.words()) {
      std::vector<uint32_t> tokens;
      for (const TokenWords::Symbol& symbol : word.symbols) tokens.push_back(symbol.token);
      std::vector<uint64_t>& counts = development_[tokens];
      counts.resize(size());
      counts[language] += word.count;
    }
    tokens_now_[language] = count_tokens(words);
  }

  // Returns the change of the number of tokens.
  static int64_t merge(Language& language, const TokenPair& pair, uint32_t token,
                       std::unordered_set<TokenPair, TokenPairHash>& all_changed) {
    const auto places = language.places.extract(pair);
    if (places.empty()) return 0;
    int64_t change = 0;
    std::unordered_set<TokenPair, TokenPairHash> changed;
    for (const uint32_t word : places.mapped()) {
      change += language.words.merge(word, pair, token, [&](const TokenPair& other, int64_t by) {
        changed.insert(other);
        language.pairs[other] += by;
        if (by > 0) language.places[other].insert(word);
      });
    }
    language.pairs[pair] = 0;
    for (const TokenPair& other : changed) language.pairs.push(other);
    all_changed.merge(changed);
    return change;
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
  std::vector<Language> languages_;
  PairCounts all_;
  Development development_;
  bool has_development_ = false;
  std::vector<uint64_t> tokens_now_;
};

}  // namespace spmcompat
