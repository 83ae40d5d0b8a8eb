// The stages that cut counts into segments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/counting/character_counts.hpp"
#include "spmcompat/counting/merging.hpp"
#include "spmcompat/counting/pretoken_counts.hpp"
#include "spmcompat/counting/segment_table.hpp"
#include "spmcompat/counting/sentence_order.hpp"
#include "spmcompat/old_releases/bpe_segments.hpp"
#include "spmcompat/old_releases/delimiter.hpp"
#include "spmcompat/old_releases/text_end.hpp"
#include "spmcompat/plan.hpp"
#include "spmcompat/pretokenization/cuts.hpp"
#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/segments/segment_counts.hpp"
#include "spmcompat/segments/segmented_corpus.hpp"
#include "spmcompat/segments/segmenter.hpp"

namespace spmcompat {

// Joins the pretokens of each sentence into one pretoken.
inline void join_sentences(std::unique_ptr<PretokenCounts>& counts, SentenceOrder& order,
                           bool uniform_starts, Crew& crew) {
  auto joined = std::make_unique<PretokenCounts>();
  counts->join_sentences(order, uniform_starts, *joined, crew.cancel());
  joined->close_sentences(order, uniform_starts);
  counts = std::move(joined);
}

// Removes delimiters from the sentences, as old releases do, and cuts the sentences into pretokens.
// Returns the counts of the characters outside the delimiters, except the unknown mark. Replaces
// `order` with the order of the new pretokens if `looks_at_text_end` is set in the plan. Otherwise,
// replaces `order` with the order of the new sentences if `in_order` is true.
inline CharacterCounts remove_delimiters(std::unique_ptr<PretokenCounts>& counts, const Plan& plan,
                                         SentenceOrder& order, bool in_order, Crew& crew) {
  const bool is_ordered = in_order || plan.seeding.looks_at_text_end;
  DelimitedSentences sentences(counts->pretokens(), PieceRule(plan.cutting), is_ordered);
  auto pretokens = std::make_unique<PretokenCounts>();
  std::vector<CharacterCounts> characters(crew.size());
  const uint32_t shards = counts->pretokens().shards();
  crew.for_each(shards, [&](uint32_t shard, size_t worker) {
    sentences.count_characters(shard, characters[worker]);
  });
  crew.for_each(shards, [&](uint32_t shard) { sentences.cut(shard, pretokens->pretokens()); });
  if (plan.seeding.looks_at_text_end) {
    order = sentences.order_of_pretokens(order);
  } else if (in_order) {
    order = sentences.order_of_texts(order);
  }
  counts = std::move(pretokens);
  return sum_of(characters);
}

struct CutText {
  SegmentedCorpus corpus;
  double text_bytes = 0;            // see PretokenCounts::text_bytes
  CharacterCounts part_characters;  // the result of remove_delimiters, if it was called
};

// Converts counts to a corpus: replaces rare characters, removes delimiters, and cuts pretokens
// into segments (see Segmenter). With `in_order`, the corpus has the sentences in the order of the
// text instead of distinct pretokens. Without `with_pretokens`, it has only segments. Frees the
// counts.
inline CutText cut_counts(std::unique_ptr<PretokenCounts>& counts, SentenceOrder& order,
                          const std::vector<char32_t>& alphabet, const Plan& plan, bool in_order,
                          bool with_pretokens, Crew& crew) {
  CutText cut;
  const PieceRule rule(plan.cutting);
  const bool needs_order = in_order || plan.seeding.looks_at_text_end;
  counts->cover(alphabet, needs_order ? &order : nullptr, crew);
  if (!rule.removed_delimiter.empty()) {
    cut.part_characters = remove_delimiters(counts, plan, order, in_order, crew);
  }
  if (plan.seeding.looks_at_text_end) {
    const TextEndSeeds end(counts->pretokens(), rule, order, std::max(plan.counting.copies, 1u),
                           crew.cancel());
    cut.corpus.at_text_end = end.counts();
  }
  cut.text_bytes = counts->text_bytes();
  const size_t parts = with_pretokens ? 4 * crew.size() : 0;
  Segmenter segmenter(std::move(counts->pretokens()), rule, plan.seeding.seed_tree_of_characters,
                      parts);
  counts.reset();
  if (with_pretokens) {
    segmenter.cut(in_order ? &order : nullptr, cut.corpus, crew);
  } else {
    segmenter.cut_alone(cut.corpus, crew);
  }
  order = SentenceOrder();
  return cut;
}

// Returns the segments of a corpus, in the order in which they first occur in its pretokens. Frees
// the corpus.
inline SegmentCounts count_bpe_segments(SegmentedCorpus& corpus, const PieceRule& rule,
                                        Crew& crew) {
  SegmentedCorpus text = std::exchange(corpus, SegmentedCorpus());
  std::vector<SegmentUse>().swap(text.uses);
  SegmentCounts found;
  for (size_t i = 0; i < text.pretoken_count.size(); ++i) {
    crew.check_cancelled();
    const auto count = static_cast<uint64_t>(text.pretoken_count[i]);
    found.add_segments(text.pretoken_text(i), count, rule);
  }
  return found;
}

// Cuts the texts of all workers into the segments on which BPE trains. Frees the counters of the
// workers.
inline SegmentCounts count_text_segments(CountedText& text, const PieceRule& rule,
                                         const std::vector<char32_t>& alphabet, Crew& crew) {
  const std::vector<bool> required = required_characters(alphabet);
  std::vector<SegmentCounts> found(text.counters.size());
  crew.for_each(text.counters.size(), [&](size_t i) {
    std::string covered;
    text.counters[i]->table().consume_texts([&](std::string_view one, uint64_t count) {
      crew.check_cancelled();
      if (rule.bpe_delimiter.empty() && one.size() <= rule.bpe_longest_pretoken) {
        found[i].add_long_segments(one, count, rule, required);
        return;
      }
      if (cover_text(one, required, covered)) one = covered;
      for_each_pretoken(one, rule, [&](std::string_view pretoken, bool) {
        found[i].add_segments(std::string(pretoken), count, rule);
      });
    });
    text.counters[i].reset();
  });
  text = CountedText();
  for (size_t i = 1; i < found.size(); ++i) {
    crew.check_cancelled();
    found[0].add(found[i]);
  }
  return std::move(found[0]);
}

// Cuts segments before and after each character that is not in the alphabet, for BPE. Frees the
// table.
inline SegmentCounts cut_at_rare_characters(std::unique_ptr<SegmentTable>& table,
                                            const std::vector<char32_t>& alphabet, Crew& crew) {
  table->split(required_characters(alphabet), crew);
  const std::unique_ptr<SegmentTable> cut = std::move(table);
  return SegmentCounts(std::move(*cut));
}

}  // namespace spmcompat
