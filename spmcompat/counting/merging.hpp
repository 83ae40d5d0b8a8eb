// The stages after reading. They merge the tables of all workers or, for BPE, cut the texts in
// these tables into segments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/counting/batch.hpp"
#include "spmcompat/counting/character_counts.hpp"
#include "spmcompat/counting/counter.hpp"
#include "spmcompat/counting/pretoken_counts.hpp"
#include "spmcompat/counting/segment_table.hpp"
#include "spmcompat/counting/sentence_order.hpp"
#include "spmcompat/plan.hpp"
#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

// The counters of all workers, and the batches that they read.
struct CountedText {
  struct Batch {
    BatchLog log;
    size_t worker;  // the worker that read the batch
  };

  void add(std::unique_ptr<Counter> counter) { counters.push_back(std::move(counter)); }
  void add(BatchLog log, size_t worker) { batches.push_back({std::move(log), worker}); }

  std::vector<std::unique_ptr<Counter>> counters;  // one for each worker
  std::vector<Batch> batches;                      // in the order of the text
};

inline void merge_counters(CountedText& text, PretokenCounts& merged, bool keep_ids, Crew& crew) {
  crew.for_each(text.counters.size(), [&](size_t worker) {
    text.counters[worker]->table().merge_into(merged.pretokens(), keep_ids, crew.cancel());
  });
}

// Merges the pretokens, and returns the sentences in the order of the text.
inline SentenceOrder merge_in_order(CountedText& text, PretokenCounts& merged, bool with_pretokens,
                                    Crew& crew) {
  merge_counters(text, merged, true, crew);
  SentenceOrder order;
  for (CountedText::Batch& batch : text.batches) {
    crew.check_cancelled();
    order.append(std::move(batch.log), text.counters[batch.worker]->table(), with_pretokens);
  }
  return order;
}

// Returns the last pretoken of the first non-empty sentence from number `sentence` on, counted in
// the order of the text; an empty string if there is none.
inline std::string last_pretoken_from(uint64_t sentence, const CountedText& text) {
  for (const CountedText::Batch& batch : text.batches) {
    const BatchLog& log = batch.log;
    for (; sentence < log.sentences; ++sentence) {
      const uint32_t id = log.last[sentence];
      if (id != kNoPretoken) return text.counters[batch.worker]->table().last_pretoken(id);
    }
    sentence -= log.sentences;
  }
  return {};
}

// Merges the pretokens of a text in which all sentences begin with the same character. In such a
// text, the order of the sentences does not matter, except which sentence is the last: the first
// non-empty sentence from number `last` on.
inline void merge_unordered(CountedText& text, uint64_t last, PretokenCounts& merged, Crew& crew) {
  const std::string last_pretoken = last_pretoken_from(last, text);
  merge_counters(text, merged, false, crew);
  if (!last_pretoken.empty()) merged.close_sentences(last_pretoken);
}

// Merges the tables of all counters into `merged`, and frees the counters. Writes the sentences to
// `order` if the plan keeps the order or `with_pretokens` is set. Returns the number of non-empty
// sentences.
inline uint64_t merge_text(CountedText& text, std::unique_ptr<PretokenCounts>& merged,
                           SentenceOrder& order, const CountingPlan& plan, bool with_pretokens,
                           Crew& crew) {
  CountedText read = std::exchange(text, CountedText());
  merged = std::make_unique<PretokenCounts>();
  if (!plan.keeps_order && !with_pretokens) {
    uint64_t filled = 0;
    for (const CountedText::Batch& batch : read.batches) filled += batch.log.filled;
    // The reference moves the last sentences to the positions of the empty ones. So the sentence at
    // the last position stays there or, if it is empty, the next non-empty sentence is moved there.
    // SentenceLog (retention.py) has dropped no sentence from this position on. If all sentences are
    // empty, filled - 1 is a number that no sentence has.
    merge_unordered(read, filled - 1, *merged, crew);
    return filled;
  }
  order = merge_in_order(read, *merged, with_pretokens, crew);
  order.remove_empty(plan.removes_all_empty);
  merged->close_sentences(order, plan.uniform_starts);
  return order.last.size();
}

// Cuts the texts of all workers into segments, and returns the counts of their characters. Frees
// the counters of the workers.
inline CharacterCounts cut_text(CountedText& text, std::unique_ptr<SegmentTable>& segments,
                                const CuttingPlan& plan, Crew& crew) {
  const PieceRule rule(plan);
  std::vector<CharacterCounts> counts(crew.size());
  segments = std::make_unique<SegmentTable>(kShardBits);
  crew.for_each(text.counters.size(), [&](size_t i, size_t worker) {
    cut_texts(text.counters[i]->table(), rule, counts[worker], *segments, crew.cancel());
    text.counters[i].reset();
  });
  text = CountedText();
  return sum_of(counts);
}

// Counts the characters of merged pretokens.
inline CharacterCounts count_characters(const std::unique_ptr<PretokenCounts>& merged, Crew& crew) {
  std::vector<CharacterCounts> counts(crew.size());
  crew.for_each(merged->pretokens().shards(), [&](uint32_t shard, size_t worker) {
    merged->count_characters(shard, counts[worker]);
  });
  return sum_of(counts);
}

// Counts the characters of the texts of all workers.
inline CharacterCounts count_text_characters(const CountedText& text, Crew& crew) {
  std::vector<CharacterCounts> counts(crew.size());
  crew.for_each(text.counters.size(), [&](size_t i, size_t worker) {
    text.counters[i]->table().for_each_text([&](std::string_view one, uint64_t count) {
      crew.check_cancelled();
      for_each_character(one, [&](char32_t c) { counts[worker].add(c, count); });
    });
  });
  return sum_of(counts);
}

}  // namespace spmcompat
