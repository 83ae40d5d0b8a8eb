// Removes the pre-tokenization delimiter for the Unigram training of sentencepiece up to 0.2.2.
//
// For seeding, sentences are cut at the delimiter. For EM, the delimiter is only removed, so a
// piece may contain text from both sides of it. In both cases, rare characters have already been
// replaced, and sentences have not been cut into pretokens yet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/counting/character_counts.hpp"
#include "spmcompat/counting/pretoken_table.hpp"
#include "spmcompat/counting/sentence_order.hpp"
#include "spmcompat/pretokenization/cuts.hpp"
#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/unicode/marks.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

// Calls function(part) for every part of a sentence between delimiters. With `by_byte`, each byte
// of the delimiter is a delimiter by itself.
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

// Removes the delimiter from distinct sentences, and cuts the sentences into pretokens. Workers
// share the work by taking different shards.
class DelimitedSentences {
 public:
  // With `ordered`, stores the pretokens of each sentence in their order.
  DelimitedSentences(const PretokenTable& sentences, const PieceRule& rule, bool ordered)
      : sentences_(sentences), rule_(rule), ordered_(ordered), shards_(sentences.shards()) {}

  // Counts the characters outside the delimiters, except unknown marks.
  void count_characters(uint32_t shard, CharacterCounts& counts) const {
    const std::vector<uint64_t> totals = sentences_.totals(shard);
    for (uint32_t i = 0; i < totals.size(); ++i) {
      const auto count = [&](char32_t c) {
        if (c != kUnknownMark) counts.add(c, totals[i]);
      };
      for_each_part(text(shard, i),
                    [&](std::string_view part) { for_each_character(part, count); });
    }
  }

  void cut(uint32_t shard, PretokenTable& pretokens) {
    const std::vector<uint64_t> totals = sentences_.totals(shard);
    Pretokens& found = shards_[shard];
    for (uint32_t i = 0; i < totals.size(); ++i) {
      found.begin.push_back(found.ids.size());
      if (totals[i] == 0) continue;
      if (rule_.delimiter_cuts) {
        add_parts(text(shard, i), totals[i], pretokens, found.ids);
      } else {
        add_whole(text(shard, i), totals[i], pretokens, found.ids);
      }
    }
    found.begin.push_back(found.ids.size());
  }

  // Returns the order of the sentences, for plans in which a sentence is at most one pretoken.
  SentenceOrder order_of_texts(const SentenceOrder& order) const {
    SentenceOrder result;
    const auto add = [&](uint32_t pretoken, int64_t count) {
      result.last.push_back(pretoken);
      if (!order.count.empty()) result.count.push_back(count);
    };
    order.for_each(
        [&](size_t i) {
          const auto [first, last] = pretokens_of(order.last[i]);
          add(first == last ? kNoPretoken : *first, order.count_of(i));
        },
        [&](int64_t count) { add(kNoPretoken, count); });
    result.set_empty_apart();
    return result;
  }

  // Returns the pretokens of all sentences, in order. kNoPretoken follows each part of a sentence
  // between delimiters.
  SentenceOrder order_of_pretokens(const SentenceOrder& order) const {
    SentenceOrder result;
    result.begin.push_back(0);
    const auto close = [&result] {
      result.begin.push_back(result.pretokens.size());
      result.last.push_back(kNoPretoken);
    };
    order.for_each(
        [&](size_t i) {
          const auto [first, last] = pretokens_of(order.last[i]);
          result.pretokens.insert(result.pretokens.end(), first, last);
          close();
        },
        [&](int64_t) {
          result.pretokens.push_back(kNoPretoken);
          close();
        });
    return result;
  }

 private:
  struct Pretokens {
    std::vector<uint32_t> ids;    // the pretokens of all sentences of a shard
    std::vector<uint64_t> begin;  // index of a sentence -> where its ids begin
  };

  std::string_view text(uint32_t shard, uint32_t index) const {
    return sentences_[sentences_.id(shard, index)];
  }

  std::pair<const uint32_t*, const uint32_t*> pretokens_of(uint32_t sentence) const {
    const Pretokens& found = shards_[sentences_.shard_of(sentence)];
    const uint32_t index = sentences_.index_of(sentence);
    return {found.ids.data() + found.begin[index], found.ids.data() + found.begin[index + 1]};
  }

  template <typename Function>
  void for_each_part(std::string_view sentence, Function function) const {
    split_at(sentence, rule_.removed_delimiter, rule_.delimiter_parts_by_byte, function);
  }

  void add_parts(std::string_view sentence, uint64_t count, PretokenTable& pretokens,
                 std::vector<uint32_t>& found) const {
    std::string text;
    for_each_part(sentence, [&](std::string_view part) {
      text.clear();
      for_each_character(part, [&text](char32_t c) { append_utf8(c, text); });
      add_pretokens(text, count, pretokens, found);
      if (ordered_) found.push_back(kNoPretoken);
    });
  }
  void add_whole(std::string_view sentence, uint64_t count, PretokenTable& pretokens,
                 std::vector<uint32_t>& found) const {
    std::string text;
    split_at(sentence, rule_.removed_delimiter, false,
             [&](std::string_view part) { text.append(part); });
    add_pretokens(text, count, pretokens, found);
  }
  void add_pretokens(std::string_view text, uint64_t count, PretokenTable& pretokens,
                     std::vector<uint32_t>& found) const {
    uint32_t before = kNoPretoken;
    for_each_pretoken(text, rule_, [&](std::string_view pretoken, bool) {
      size_t size;
      const char32_t first = decode_utf8(pretoken.data(), pretoken.data() + pretoken.size(), &size);
      if (before != kNoPretoken) pretokens.count(before, first, count);
      before = pretokens.add(pretoken, {});
      if (ordered_) found.push_back(before);
    });
    if (before != kNoPretoken) pretokens.count(before, kSentenceEnd | kSpaceMark, count);
  }

  const PretokenTable& sentences_;
  PieceRule rule_;
  bool ordered_;
  std::vector<Pretokens> shards_;
};

}  // namespace spmcompat
