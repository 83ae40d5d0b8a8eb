// Byte-pair merges, the most frequent pair first, as sentencepiece 0.2.3 chooses them.
//
// Pairs whose count is below a floor are not recorded. When no recorded pair is left, the floor is
// lowered and the pairs of the text are recorded again. The first floor is high. When it is lowered,
// merges have already shortened the text, so the lists of positions are shorter, too. Before pairs
// are recorded again, the text is packed, so that less memory has to be read.
//
// When no other pairs are left, the reference also merges pairs that no longer occur. This needs a
// floor of zero. So every pair has to be recorded from the first merge on, and all merges are
// repeated. (If there are initial pieces, the floor does not become zero, and such pairs are not
// merged.)
//
// Releases up to 0.2.1 choose from an active set (active_set.hpp). As long as the best of all pairs
// is so frequent that it must be in that set, it is the best pair of the set, and the set itself is
// not needed. When this is no longer certain, all merges up to the last renewal of the set are
// repeated, with every pair recorded. From then on, the set is computed at every renewal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "spmcompat/bpe/active_set.hpp"
#include "spmcompat/bpe/corpus_encoder.hpp"
#include "spmcompat/bpe/count_levels.hpp"
#include "spmcompat/bpe/paired_text.hpp"
#include "spmcompat/bpe/pairs.hpp"
#include "spmcompat/bpe/piece_policy.hpp"
#include "spmcompat/bpe/symbol_text.hpp"
#include "spmcompat/bpe/symbols.hpp"
#include "spmcompat/bpe/text_filler.hpp"
#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/segments/segment_counts.hpp"

namespace spmcompat {

struct Merge {
  std::string piece;     // the text, in UTF-8
  uint64_t count;        // how often the pair occurred when it was merged
  uint32_t left_length;  // the number of characters in the left part of the pair
};

class Merger {
 public:
  // For the parameters, see find_merges below.
  Merger(SegmentCounts segments, const PieceRule& rule, size_t wanted, bool active_set,
         const ScoredPieces* initial, Crew& crew)
      : wanted_(wanted),
        active_set_(active_set),
        pieces_(symbols_),
        text_(symbols_, {symbols_, rule}, active_set) {
    const auto order = active_set ? SegmentOrder::kAsGiven : SegmentOrder::kMostFrequentFirst;
    const uint64_t characters = fill_text(std::move(segments), order, text_.text(), symbols_, crew);
    characters_ = symbols_.size();
    if (initial != nullptr) {
      last_floor_ = 1;
      encode_text(*initial, crew.cancel());
    }
    record(first_floor(characters / std::max<size_t>(wanted, 1)), crew);
  }
  Merger(const Merger&) = delete;

  std::vector<Merge> make(Crew& crew) {
    while (merges_.size() < wanted_) {
      crew.check_cancelled();
      if (active_set_ && merges_.size() % kRenewal == 0) renew_active_set();
      const uint32_t best = text_.take_best();
      if (best == Text::kNone) {
        if (floor_ == last_floor_) break;
        lower_floor(crew);
      } else if (text_[best].count < surely_active_) {
        start_active_set(crew);
      } else {
        merge(best);
      }
      if (merges_.size() > reported_) {
        reported_ = merges_.size();
        crew.advance(1);
      }
    }
    return std::move(merges_);
  }

 private:
  using Text = PairedText<PiecePolicy>;

  void encode_text(const ScoredPieces& initial, const CancelFlag& cancel) {
    CorpusEncoder encoder(initial, symbols_);
    encoder.encode(text_.text(), cancel);
    for (uint32_t symbol = characters_; symbol < symbols_.size(); ++symbol) pieces_.add(symbol);
    text_.text().pack(symbols_);
  }

  // Renews the active set. If the set itself is not needed, only computes `surely_active_`: a count
  // so high that every pair with this count or a higher one is in the set.
  void renew_active_set() {
    if (!cache_ || merges_.size() < cache_used_from_) {
      surely_active_ = text_.levels().reached_by(active_size(text_.levels().size()));
      return;
    }
    surely_active_ = 0;
    text_.queue_only(cache_->most_frequent(text_.pairs()));
  }

  // Returns the first floor, the count below which pairs are not recorded. `mean` is the number of
  // characters in the corpus, divided by the expected number of merges. With an active set, the floor
  // is lower, because the set depends on the counts of all pairs except the rarest. If `mean` is
  // small, the last merges may need pairs that occur once or never, so a high floor has no benefit.
  uint64_t first_floor(uint64_t mean) const {
    if (active_set_) return mean < 64 ? last_floor_ : mean / 32;
    return mean < 32 ? last_floor_ : mean / 4;
  }

  uint64_t next_floor() const {
    return floor_ == 1 ? 0 : std::max<uint64_t>(floor_ / (active_set_ ? 8 : 5), 1);
  }

  void lower_floor(Crew& crew) {
    const uint64_t floor = next_floor();
    // With an active set, merges start over, because surely_active_ was computed only from the pairs
    // above the old floor.
    if (floor == 0 || active_set_) return start_over(floor, crew);
    text_.drop_pairs();
    text_.text().pack(symbols_);
    record(floor, crew);
  }

  void start_active_set(Crew& crew) {
    cache_ = std::make_unique<SymbolCache>();
    cache_used_from_ = merges_.size() - merges_.size() % kRenewal;
    start_over(0, crew);
  }

  // Undoes all merges: splits the text into characters, and records the pairs above the new floor. The
  // same merges are then made again.
  void start_over(uint64_t floor, Crew& crew) {
    text_.drop_pairs();
    text_.text().split_into_characters(symbols_, characters_);
    symbols_.keep(characters_);
    pieces_.clear();
    merges_.clear();
    record(floor, crew);
  }

  // Merges a pair, unless its text is already a piece.
  void merge(uint32_t id) {
    const Pair pair = text_[id];
    text_.remove_level(id);
    const uint32_t merged = symbols_.add(pair.left, pair.right);
    if (!pieces_.add(merged)) {
      symbols_.keep(merged);
      if (cache_) cache_->erase_pair(pair.left, pair.right);
      return;
    }
    merges_.push_back({symbols_.utf8(merged), pair.count, symbols_.length(pair.left)});
    text_.merge(id, merged);
    if (cache_) cache_new_pairs(pair, merged);
  }

  // Records the pairs of the text whose count is `floor` or higher.
  void record(uint64_t floor, Crew& crew) {
    floor_ = floor;
    text_.record(floor, crew);
    if (cache_) cache_all_pairs();
  }

  // Adds the symbols and pairs of the text to the cache, in the reference's order.
  void cache_all_pairs() {
    for (uint32_t symbol = 0; symbol < characters_; ++symbol) {
      cache_->add_character(symbols_[symbol][0]);
    }
    const SymbolText& text = text_.text();
    for (size_t position = 0; position + 1 < text.size(); ++position) {
      if (is_symbol(text[position]) && is_symbol(text[position + 1])) {
        cache_pair(text[position], text[position + 1]);
      }
    }
  }

  // Adds the pairs around the positions of a merge to the cache. Where the merged symbol occurs twice
  // in a row, the reference adds the pair that follows the first occurrence before it merges the
  // second one. That pair therefore consists of the merged symbol and the left part of the second
  // occurrence.
  void cache_new_pairs(const Pair& pair, uint32_t merged) {
    cache_->add_merged(pair.left, pair.right);
    const SymbolText& text = text_.text();
    const uint32_t width = text.width(merged);
    for (const uint32_t position : text_.merged_positions()) {
      const uint32_t before = text[text.position_before(position)];
      const uint32_t after = text[position + width];
      if (is_symbol(before)) cache_pair(before, merged);
      if (is_symbol(after)) cache_pair(merged, after == merged ? pair.left : after);
    }
    cache_->erase_pair(pair.left, pair.right);
  }

  void cache_pair(uint32_t left, uint32_t right) {
    const uint32_t pair = text_.find(left, right);
    if (pair != Text::kNone) cache_->add_pair(left, right, pair);
  }

  static bool is_symbol(uint32_t at) { return SymbolText::is_symbol(at); }

  const size_t wanted_;
  Symbols symbols_;
  const bool active_set_;
  uint64_t surely_active_ = 0;  // pairs with this count or a higher one are in the active set
  std::unique_ptr<SymbolCache> cache_;  // null until the active set itself must be computed
  size_t cache_used_from_ = 0;          // the number of merges before the cache is used

  uint64_t floor_ = 0;
  // The lowest floor. It is 1 if there are initial pieces, because a floor of 0 requires that the
  // merges start from single characters.
  uint64_t last_floor_ = 0;

  uint32_t characters_ = 0;  // the number of symbols that are characters
  std::vector<Merge> merges_;
  size_t reported_ = 0;  // the largest number of merges so far
  PieceTexts pieces_;
  Text text_;
};

// Returns `wanted` merges, or fewer if no pair is left. Frees the segments.
//
// With `active_set`, merges are chosen from the active set. In this case, the segments must be in the
// order in which they first occur in the corpus, and must include those of a single character.
//
// If there are `initial` pieces, the text is encoded with them before the first merge. They cannot be
// combined with the active set. Throws std::overflow_error if the text is too large.
inline std::vector<Merge> find_merges(SegmentCounts& segments, const PieceRule& rule, size_t wanted,
                                      bool active_set, const ScoredPieces* initial, Crew& crew) {
  Merger merger(std::exchange(segments, SegmentCounts()), rule, wanted, active_set, initial, crew);
  return merger.make(crew);
}

}  // namespace spmcompat
