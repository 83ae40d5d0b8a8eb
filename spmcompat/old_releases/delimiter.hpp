// The delimiter of the pre-tokenization, as Unigram training of sentencepiece up to 0.2.2 takes it.
//
// It parts sentences where seeds are looked for, and is left out of those that EM sees: there
// pieces may lie across. Both happen after rare characters were replaced, and before sentences are
// cut into words.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/counting/counter.hpp"
#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/unicode/utf8.hpp"
#include "spmcompat/counting/pretoken_counts.hpp"
#include "spmcompat/counting/pretoken_table.hpp"

namespace spmcompat {

struct Delimiter {
  std::string text;      // none if empty
  bool parts = false;    // sentences; else it is left out
  bool by_byte = false;  // any of its bytes parts, even within a character, which leaves no UTF-8
};

// Calls function(text) for what stands between delimiters, or between their bytes.
template <typename Function>
void split_at(std::string_view sentence, const std::string& delimiter, bool by_byte,
              Function function) {
  const size_t length = by_byte ? 1 : delimiter.size();
  for (size_t begin = 0, end; begin <= sentence.size(); begin = end + length) {
    end = by_byte ? sentence.find_first_of(delimiter, begin) : sentence.find(delimiter, begin);
    end = std::min(end, sentence.size());
    function(sentence.substr(begin, end - begin));
  }
}

// Distinct sentences of which the delimiters are taken out, as words. Workers share the sentences
// by their shards.
class DelimitedSentences {
 public:
  // With `ordered` the words of each sentence are kept.
  DelimitedSentences(const WordTable& sentences, const Delimiter& delimiter, const PieceRule& rule,
                     bool ordered)
      : sentences_(sentences),
        delimiter_(delimiter),
        rule_(rule),
        ordered_(ordered),
        shards_(sentences.shards()) {}

  // Adds how often each known character stands between delimiters that part.
  void count_characters(uint32_t shard, CharacterCounts& counts) const {
    const std::vector<uint64_t> totals = sentences_.totals(shard);
    for (uint32_t place = 0; place < totals.size(); ++place) {
      const auto count = [&](char32_t c) {
        if (c != kUnknownMark) counts.add(c, totals[place]);
      };
      split_at(text(shard, place), delimiter_.text, delimiter_.by_byte,
               [&](std::string_view part) { for_each_character(part, count); });
    }
  }

  void cut(uint32_t shard, WordTable& words) {
    const std::vector<uint64_t> totals = sentences_.totals(shard);
    Words& found = shards_[shard];
    for (uint32_t place = 0; place < totals.size(); ++place) {
      found.begin.push_back(found.words.size());
      if (totals[place] == 0) continue;
      if (delimiter_.parts) {
        add_parts(text(shard, place), totals[place], words, found.words);
      } else {
        add_whole(text(shard, place), totals[place], words, found.words);
      }
    }
    found.begin.push_back(found.words.size());
  }

  // The order of sentences that are one word each, or none.
  SentenceOrder order_of_texts(const SentenceOrder& order) const {
    SentenceOrder result;
    const auto add = [&](uint32_t word, int64_t count) {
      result.last.push_back(word);
      if (!order.count.empty()) result.count.push_back(count);
    };
    order.for_each(
        [&](size_t i) {
          const auto [first, last] = words_of(order.last[i]);
          add(first == last ? kNoWord : *first, order.count.empty() ? 1 : order.count[i]);
        },
        [&](int64_t count) { add(kNoWord, count); });
    result.set_empty_apart();
    return result;
  }

  // The words of all sentences, in their order, and kNoWord behind each part.
  SentenceOrder order_of_words(const SentenceOrder& order) const {
    SentenceOrder result;
    result.word_begin.push_back(0);
    const auto close = [&result] {
      result.word_begin.push_back(result.words.size());
      result.last.push_back(kNoWord);
    };
    order.for_each(
        [&](size_t i) {
          const auto [first, last] = words_of(order.last[i]);
          result.words.insert(result.words.end(), first, last);
          close();
        },
        [&](int64_t) {
          result.words.push_back(kNoWord);
          close();
        });
    return result;
  }

 private:
  struct Words {
    std::vector<uint32_t> words;  // of all sentences of a shard
    std::vector<uint64_t> begin;  // place -> range of words
  };

  std::string_view text(uint32_t shard, uint32_t place) const {
    return sentences_[sentences_.id(shard, place)];
  }

  std::pair<const uint32_t*, const uint32_t*> words_of(uint32_t sentence) const {
    const Words& found = shards_[sentences_.shard_of(sentence)];
    const uint32_t place = sentences_.place_of(sentence);
    return {found.words.data() + found.begin[place], found.words.data() + found.begin[place + 1]};
  }

  void add_parts(std::string_view sentence, uint64_t count, WordTable& words,
                 std::vector<uint32_t>& found) const {
    std::string text;
    split_at(sentence, delimiter_.text, delimiter_.by_byte, [&](std::string_view part) {
      text.clear();
      for_each_character(part, [&text](char32_t c) { append_utf8(c, text); });
      add_words(text, count, words, found);
      if (ordered_) found.push_back(kNoWord);
    });
  }
  void add_whole(std::string_view sentence, uint64_t count, WordTable& words,
                 std::vector<uint32_t>& found) const {
    std::string text;
    split_at(sentence, delimiter_.text, false, [&](std::string_view part) { text.append(part); });
    add_words(text, count, words, found);
  }
  void add_words(std::string_view text, uint64_t count, WordTable& words,
                 std::vector<uint32_t>& found) const {
    uint32_t before = kNoWord;
    for_each_word(text, rule_, [&](std::string_view word) {
      size_t size;
      const char32_t first = decode_utf8(word.data(), word.data() + word.size(), &size);
      if (before != kNoWord) words.count(before, first, count);
      before = words.add(word, {});
      if (ordered_) found.push_back(before);
    });
    if (before != kNoWord) words.count(before, kSentenceEnd | kSpaceMark, count);
  }

  const WordTable& sentences_;
  Delimiter delimiter_;
  PieceRule rule_;
  bool ordered_;
  std::vector<Words> shards_;
};

}  // namespace spmcompat
