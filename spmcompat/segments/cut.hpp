// From counts to a corpus: rare characters are replaced, delimiters are removed, and pretokens are
// cut into segments.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "spmcompat/counting/character_counts.hpp"
#include "spmcompat/counting/pretoken_counts.hpp"
#include "spmcompat/counting/segment_table.hpp"
#include "spmcompat/counting/sentence_order.hpp"
#include "spmcompat/old_releases/delimiter.hpp"
#include "spmcompat/plan.hpp"
#include "spmcompat/pretokenization/cuts.hpp"
#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/segments/segmented_corpus.hpp"
#include "spmcompat/segments/segmenter.hpp"

namespace spmcompat {

// Replaces all characters but those of the alphabet. Changes `order` too, if it is given.
inline void cover_pretokens(PretokenCounts& counts, const std::vector<char32_t>& alphabet,
                            SentenceOrder* order, Crew& crew) {
  const uint32_t shards = counts.pretokens().shards();
  counts.require(alphabet);
  crew.for_each(shards, [&](uint32_t shard) { counts.find_changes(shard); });
  crew.for_each(shards, [&](uint32_t shard) { counts.change(shard); });
  counts.finish_changes(order);
}

// Cuts segments at the characters that are not in the alphabet.
inline void cut_at_rare_characters(SegmentTable& segments, const std::vector<char32_t>& alphabet,
                                   Crew& crew) {
  const std::vector<bool> required = required_characters(alphabet);
  crew.for_each(segments.shards(), [&](uint32_t shard) { segments.find_parts(shard, required); });
  crew.for_each(segments.shards(), [&](uint32_t shard) { segments.add_parts(shard); });
}

// Removes the delimiters of old releases from sentences, and cuts the sentences. Adds how often each
// known character occurs between the delimiters to the counts of the workers. Changes `order` if
// the plan looks at the end of the text, or with `in_order`.
inline void remove_delimiters(std::unique_ptr<PretokenCounts>& counts, const Plan& plan,
                              unsigned shard_bits, SentenceOrder& order, bool in_order,
                              std::vector<CharacterCounts>& characters, Crew& crew) {
  const bool is_ordered = in_order || plan.looks_at_text_end;
  DelimitedSentences sentences(counts->pretokens(), plan, is_ordered);
  auto pretokens = std::make_unique<PretokenCounts>(shard_bits);
  const uint32_t shards = counts->pretokens().shards();
  crew.for_each(shards, [&](uint32_t shard, size_t worker) {
    sentences.count_characters(shard, characters[worker]);
  });
  crew.for_each(shards, [&](uint32_t shard) { sentences.cut(shard, pretokens->pretokens()); });
  if (plan.looks_at_text_end) {
    order = sentences.order_of_pretokens(order);
  } else if (in_order) {
    order = sentences.order_of_texts(order);
  }
  counts = std::move(pretokens);
}

// Cuts pretokens into segments; see Segmenter. Frees the counts.
inline void cut_pretokens(SegmentedCorpus& corpus, std::unique_ptr<PretokenCounts>& counts,
                          const Plan& plan, const SentenceOrder* order, Crew& crew) {
  Segmenter segmenter(std::move(counts->pretokens()), PieceRule(plan),
                      plan.seed_tree_of_characters, 4 * crew.size());
  counts.reset();
  segmenter.cut(order, corpus, crew);
}

// Like cut_pretokens, but for a corpus without pretokens.
inline void cut_segments(SegmentedCorpus& corpus, std::unique_ptr<PretokenCounts>& counts,
                         const Plan& plan, Crew& crew) {
  Segmenter segmenter(std::move(counts->pretokens()), PieceRule(plan),
                      plan.seed_tree_of_characters, 0);
  counts.reset();
  segmenter.cut_alone(corpus, crew);
}

}  // namespace spmcompat
