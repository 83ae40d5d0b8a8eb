// The merged pretokens of all workers, with the count of each pretoken in each context. The class
// also counts the characters, and replaces those that are not required.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/counting/character_counts.hpp"
#include "spmcompat/counting/pretoken_table.hpp"
#include "spmcompat/counting/sentence_order.hpp"
#include "spmcompat/pretokenization/cuts.hpp"
#include "spmcompat/runtime/cancel.hpp"
#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/unicode/marks.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

class PretokenCounts {
 public:
  // Workers share the work on a table by taking different shards.
  PretokenCounts() : pretokens_(kShardBits) {}

  PretokenTable& pretokens() { return pretokens_; }
  const PretokenTable& pretokens() const { return pretokens_; }

  // Counts the context of each sentence's last pretoken: the first character of the next sentence.
  // With uniform starts, reading has already counted these contexts, as if another sentence
  // followed every sentence. Then only the context of the last pretoken of the text is corrected.
  void close_sentences(const SentenceOrder& order, bool uniform_starts) {
    const size_t size = order.last.size();
    for (size_t i = 0; i + 1 < size && !uniform_starts; ++i) {
      pretokens_.count(order.last[i], kSentenceEnd | order.first[i + 1], 1);
    }
    if (size > 0) close_text(order.last[size - 1], uniform_starts);
  }
  // Like the other close_sentences, but only for uniform starts, and without the order of the
  // sentences. `last` is the last pretoken of the text.
  void close_sentences(std::string_view last) { close_text(pretokens_.add(last, {}), true); }

  // Adds the counts of the characters in the pretokens of a shard.
  void count_characters(uint32_t shard, CharacterCounts& counts) const {
    const std::vector<uint64_t> totals = pretokens_.totals(shard);
    for (uint32_t i = 0; i < totals.size(); ++i) {
      for_each_character(pretokens_[pretokens_.id(shard, i)],
                         [&](char32_t c) { counts.add(c, totals[i]); });
    }
  }

  // The size of the text in bytes, plus one byte for the end of each sentence. It is a double,
  // because the counts of a TSV file can make it larger than any integer type. A double is exact up
  // to 2^53.
  double text_bytes() const {
    double bytes = 0;
    const auto add = [&](uint32_t pretoken, uint64_t count, int ends) {
      bytes += static_cast<double>(count) * static_cast<double>(pretokens_[pretoken].size() + ends);
    };
    for (uint32_t shard = 0; shard < pretokens_.shards(); ++shard) {
      for (uint32_t i = 0; i < pretokens_.size(shard); ++i) {
        const uint32_t pretoken = pretokens_.id(shard, i);
        add(pretoken, pretokens_.use(pretoken).inner, 0);
        add(pretoken, pretokens_.use(pretoken).last, 1);
      }
      pretokens_.for_each_context(
          shard, [&](const ContextCount& c) { add(c.pretoken, c.count, c.next >= kSentenceEnd); });
    }
    return bytes;
  }

  // Replaces all characters outside the alphabet with the unknown mark. If `order` is given,
  // updates the ids of the pretokens in it.
  void cover(const std::vector<char32_t>& alphabet, SentenceOrder* order, Crew& crew) {
    const std::vector<bool> required = required_characters(alphabet);
    // The replacements in each shard, sorted by pretoken.
    std::vector<std::vector<Replacement>> replacements(pretokens_.shards());
    crew.for_each(pretokens_.shards(), [&](uint32_t shard) {
      replacements[shard] = find_replacements(shard, required);
    });
    crew.for_each(pretokens_.shards(), [&](uint32_t shard) { replace(replacements[shard]); });
    const auto covered = [&](uint32_t pretoken) {
      crew.check_cancelled();
      return covered_pretoken(pretoken, replacements[pretokens_.shard_of(pretoken)]);
    };
    if (order != nullptr) {
      for (uint32_t& pretoken : order->last) pretoken = covered(pretoken);
      for (uint32_t& pretoken : order->pretokens) pretoken = covered(pretoken);
    }
    std::vector<ContextCount> moved;
    for (uint32_t shard = 0; shard < pretokens_.shards(); ++shard) {
      pretokens_.for_each_context(shard, [&](const ContextCount& c) {
        const ContextCount after{covered(c.pretoken), covered_next(c.next, required), c.count};
        if (after.pretoken == c.pretoken && after.next == c.next) return;
        moved.push_back(after);
        moved.push_back({c.pretoken, c.next, uint64_t{0} - c.count});  // takes the count away
      });
    }
    for (const ContextCount& c : moved) {
      crew.check_cancelled();
      pretokens_.count(c.pretoken, c.next, c.count);
    }
  }

  // Joins the pretokens of each sentence into one pretoken, and adds it to `joined`.
  void join_sentences(SentenceOrder& order, bool uniform_starts, PretokenCounts& joined,
                      const CancelFlag& cancel) const {
    std::string text;
    for (size_t i = 0; i < order.last.size(); ++i) {
      cancel.check();
      text.clear();
      for (uint64_t k = order.begin[i]; k < order.begin[i + 1]; ++k) {
        text.append(pretokens_[order.pretokens[k]]);
      }
      order.last[i] = joined.pretokens_.add(text, {});
      const uint64_t count = order.count_of(i);
      const uint32_t first = uniform_starts ? uint32_t(kSpaceMark) : order.first[i];
      const uint64_t closed = uniform_starts ? count : count - 1;
      if (closed > 0) joined.pretokens_.count(order.last[i], kSentenceEnd | first, closed);
    }
    order.pretokens.clear();
    order.begin.clear();
  }

 private:
  void close_text(uint32_t last, bool uniform_starts) {
    if (uniform_starts) pretokens_.count(last, kSentenceEnd | kSpaceMark, uint64_t(-1));
    pretokens_.count(last, kTextEnd, 1);
  }

  struct Replacement {
    uint32_t pretoken;
    std::string text;  // the new text, until it is added to the table
    uint32_t covered;  // the pretoken that has the new text and replaces `pretoken`
  };

  std::vector<Replacement> find_replacements(uint32_t shard,
                                             const std::vector<bool>& required) const {
    std::vector<Replacement> found;
    std::string text;
    for (uint32_t i = 0; i < pretokens_.size(shard); ++i) {
      const uint32_t pretoken = pretokens_.id(shard, i);
      if (cover_text(pretokens_[pretoken], required, text)) found.push_back({pretoken, text, 0});
    }
    return found;
  }
  void replace(std::vector<Replacement>& replacements) {
    for (Replacement& replacement : replacements) {
      PretokenUse use;
      pretokens_.update(replacement.pretoken, [&](PretokenUse& old) { std::swap(old, use); });
      replacement.covered = pretokens_.add(replacement.text, use);
      replacement.text = std::string();
    }
  }
  static uint32_t covered_pretoken(uint32_t pretoken,
                                   const std::vector<Replacement>& replacements) {
    const auto found = std::lower_bound(
        replacements.begin(), replacements.end(), pretoken,
        [](const Replacement& one, uint32_t value) { return one.pretoken < value; });
    return found != replacements.end() && found->pretoken == pretoken ? found->covered : pretoken;
  }
  static uint32_t covered_next(uint32_t next, const std::vector<bool>& required) {
    if (next == kTextEnd) return next;
    const uint32_t c = next & ~kSentenceEnd;
    return (next & kSentenceEnd) | (required[c] ? c : uint32_t(kUnknownMark));
  }

  PretokenTable pretokens_;
};

}  // namespace spmcompat
