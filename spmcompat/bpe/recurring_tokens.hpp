// Merges tokens after the first merge whose text was already a token, as Hugging Face's BpeTrainer
// (tokenizers 0.23) does.
//
// Such merges are rare: they need letters with affixes, and words that contain the affix. Without
// affixes, a part of a text becomes a token by the same merges wherever it occurs.
//
// From this merge on, the result depends on details of that trainer. A pair that occurs again has
// an entry in the queue for each merge that created occurrences of it. An entry only merges the
// words in which this happened. The count of a merged pair is not reset, so it includes the
// occurrences that no longer exist. An entry keeps the count that the pair had when the entry was
// added, and is compared with the current count only when it comes first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "spmcompat/bpe/token_texts.hpp"
#include "spmcompat/bpe/token_words.hpp"
#include "spmcompat/runtime/crew.hpp"

namespace spmcompat {

class RecurringTokens {
 public:
  // `merges` are the merges so far, which the words contain.
  RecurringTokens(TokenWords words, uint64_t least_count, const std::vector<TokenMerge>& merges)
      : least_count_(least_count), words_(std::move(words)) {
    words_.for_each_pair(
        [this](const TokenPair& pair, int64_t count, uint32_t word) { change(pair, count, word); });
    push_changed();
    for (const TokenMerge& merge : merges) counts_[{merge.left, merge.right}] += merge.count;
  }

  // Makes merges until there are `wanted` tokens, or no pair is left.
  void make(size_t wanted, TokenTexts& texts, std::vector<TokenMerge>& merges, Crew& crew) {
    while (texts.size() < wanted) {
      crew.check_cancelled();
      if (queue_.empty()) return;
      Entry best = pop();
      const auto count = static_cast<uint64_t>(counts_[best.pair]);
      if (best.count != count) {
        best.count = count;
        push(std::move(best));
        continue;
      }
      if (count < least_count_) return;
      const auto [left, right] = best.pair;
      const uint32_t token = texts.merge(left, right);
      merges.push_back({left, right, token, 0});
      crew.advance(1);
      for (const uint32_t word : best.words) {
        words_.merge(word, best.pair, token,
                     [&](const TokenPair& pair, int64_t by) { change(pair, by, word); });
      }
      push_changed();
    }
  }

 private:
  struct Entry {
    uint64_t count;
    TokenPair pair;
    std::vector<uint32_t> words;
    bool operator<(const Entry& other) const {
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };

  // Adds to the count of a pair. If it rises, the pair gets an entry with the word.
  void change(const TokenPair& pair, int64_t by, uint32_t word) {
    counts_[pair] += by;
    if (by <= 0) return;
    std::vector<uint32_t>& words = changed_[pair];
    if (words.empty() || words.back() != word) words.push_back(word);
  }

  void push_changed() {
    for (auto& [pair, words] : changed_) {
      const int64_t count = counts_[pair];
      if (count > 0) push({static_cast<uint64_t>(count), pair, std::move(words)});
    }
    changed_.clear();
  }

  void push(Entry entry) {
    queue_.push_back(std::move(entry));
    std::push_heap(queue_.begin(), queue_.end());
  }
  Entry pop() {
    std::pop_heap(queue_.begin(), queue_.end());
    Entry best = std::move(queue_.back());
    queue_.pop_back();
    return best;
  }

  const uint64_t least_count_;
  TokenWords words_;
  std::unordered_map<TokenPair, int64_t, TokenPairHash> counts_;
  // The pairs whose counts rose in the current merge, with the words in which this happened.
  std::unordered_map<TokenPair, std::vector<uint32_t>, TokenPairHash> changed_;
  std::vector<Entry> queue_;  // a heap
};

}  // namespace spmcompat
