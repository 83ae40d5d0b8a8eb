// Byte-pair merges, the most frequent pair first, as sentencepiece 0.2.3 chooses them.
//
// Of two pairs with the same count, the one with fewer characters comes first, then the one with
// the smaller text. In "aaa", the pair "a" "a" occurs twice, and both occurrences are counted, but
// merging goes from left to right. A pair that no longer occurs keeps its entry with a count of
// zero, because the reference merges such pairs when no other pairs are left.
//
// A pair first occurs when the later of its two symbols is created. After that, it can only lose
// positions. So the list of a pair's positions is stored once, and outdated positions are skipped
// later. A merge lowers the counts of the pairs around it. These losses are first added up for each
// neighbouring symbol, so each pair is looked up only once.
//
// Most pairs are too rare ever to be merged. Pairs whose count is below a floor are not recorded.
// When no recorded pair is left, the floor is lowered and the pairs of the text are recorded again.
// The first floor is high. When it is lowered, merges have already shortened the text, so the lists
// of positions are shorter, too. Before pairs are recorded again, the text is packed, so that less
// memory has to be read.
//
// With a floor of zero, pairs that no longer occur are also merged. So every pair has to be
// recorded from the first merge on, and all merges are repeated. (If there are initial pieces, the
// floor does not become zero, and such pairs are not merged.)
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
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/bpe/active_set.hpp"
#include "spmcompat/bpe/count_levels.hpp"
#include "spmcompat/bpe/corpus_encoder.hpp"
#include "spmcompat/bpe/merge_queue.hpp"
#include "spmcompat/bpe/pair_finder.hpp"
#include "spmcompat/bpe/pairs.hpp"
#include "spmcompat/bpe/symbol_text.hpp"
#include "spmcompat/bpe/symbols.hpp"
#include "spmcompat/bpe/text_filler.hpp"
#include "spmcompat/bpe/text_pairs.hpp"
#include "spmcompat/containers/hash.hpp"
#include "spmcompat/containers/slot_index.hpp"
#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/segments/segment_counts.hpp"

namespace spmcompat {

class Merges {
 public:
  // `expected` is the approximate number of merges. With `active_set`, merges are chosen from the
  // active set. In this case, the segments must be in the order in which they first occur in the
  // corpus, and must include those of a single character.
  //
  // If there are `initial` pieces, the text is encoded with them before the first merge. They
  // cannot be combined with the active set. Throws std::overflow_error if the text is too large.
  Merges(SegmentCounts segments, const PieceRule& rule, size_t expected, bool active_set,
         const ScoredPieces* initial, Crew& crew)
      : active_set_(active_set), rule_(rule), finder_(text_, symbols_, rule) {
    const auto order =
        active_set ? SegmentOrder::kAsGiven : SegmentOrder::kMostFrequentFirst;
    const uint64_t characters = fill_text(std::move(segments), order, text_, symbols_, crew);
    characters_ = first_merge_ = symbols_.size();
    if (initial != nullptr) {
      last_floor_ = 1;
      encode_text(*initial, crew.cancel());
    }
    floor_ = first_floor(characters / std::max<size_t>(expected, 1));
  }
  Merges(const Merges&) = delete;
  static std::unique_ptr<Merges> of_text(SegmentCounts& segments, const PieceRule& rule,
                                         size_t expected, bool active_set,
                                         const ScoredPieces* initial, Crew& crew) {
    return std::make_unique<Merges>(std::move(segments), rule, expected, active_set, initial, crew);
  }

  // Makes merges until there are `wanted` merges, or no pair is left.
  void make(size_t wanted, Crew& crew) {
    do {
      if (must_record_) record(crew);
      make_recorded(wanted, crew);
    } while (must_record_);
  }

  // Frees the memory that only `make` needs. Nothing can be merged afterwards.
  void finish() {
    text_ = SymbolText();
    cache_.reset();
    drop_pairs();
    pieces_.clear();
    for (size_t side : {kLeft, kRight}) {
      std::vector<uint64_t>().swap(losses_[side]);
      std::vector<uint32_t>().swap(losers_[side]);
    }
    finder_.drop_memory();
    std::vector<uint32_t>().swap(merged_positions_);
    symbols_.shrink_to_fit();
    floor_ = last_floor_;
    must_record_ = false;
  }

  size_t size() const { return counts_.size(); }
  std::string piece(size_t merge) const { return symbols_.utf8(first_merge_ + merge); }
  // How often the pair of a merge occurred when it was merged.
  uint64_t count(size_t merge) const { return counts_[merge]; }
  // The number of characters in the left part of the pair.
  uint32_t left_length(size_t merge) const { return left_lengths_[merge]; }

 private:
  // The interface through which the queue reads the counts and the order of pairs.
  struct Pairs {
    const Merges* merges;
    uint64_t count(uint32_t pair) const { return merges->pairs_[pair].count; }
    bool is_wanted(uint64_t count) const { return count >= merges->floor_; }
    uint64_t rank(uint32_t pair) const { return merges->rank(pair); }
    bool comes_later(uint32_t a, uint32_t b) const { return merges->comes_later(a, b); }
  };
  using Queue = MergeQueue<Pairs>;

  void encode_text(const ScoredPieces& initial, const CancelFlag& cancel);

  // Choosing a pair.
  void renew_active_set();
  uint64_t first_floor(uint64_t mean) const;
  uint64_t next_floor() const;
  void lower_floor();
  void start_active_set();
  void start_over(uint64_t floor);

  void make_recorded(size_t wanted, const Crew& crew);

  // Recording pairs.
  void record(Crew& crew);
  void record_again(uint64_t floor);
  void drop_pairs();
  void record_merged(Side side, uint32_t merged);
  void add_pair(const Pair& pair);
  void cache_all_pairs();
  void cache_new_pairs(const Pair& pair, uint32_t merged);
  void cache_pair(uint32_t left, uint32_t right);

  // Merging a pair.
  void merge(Pair pair);
  bool replace(const Pair& pair, uint32_t merged);
  void subtract_losses(Side side, uint32_t symbol);
  void lower_count(uint64_t& count, uint64_t by);

  bool add_piece(uint32_t symbol);
  uint64_t rank(uint32_t pair) const;
  bool comes_later(uint32_t a, uint32_t b) const;
  static bool is_symbol(uint32_t at) { return SymbolText::is_symbol(at); }

  Symbols symbols_;
  SymbolText text_;

  const bool active_set_;
  uint64_t surely_active_ = 0;  // pairs with this count or a higher one are in the active set
  CountLevels levels_;  // a histogram of the counts of the recorded pairs
  std::unique_ptr<SymbolCache> cache_;  // null until the active set itself must be computed
  size_t cache_used_from_ = 0;  // the number of merges before the cache is used

  uint64_t floor_ = 0;
  // The lowest floor. It is 1 if there are initial pieces, because a floor of 0 requires that the
  // merges start from single characters.
  uint64_t last_floor_ = 0;
  bool must_record_ = true;
  PairTable pairs_;
  std::vector<PositionArena> arenas_;  // the positions of the pairs that `record` found
  PositionArena arena_;  // the positions of the pairs that `record_merged` found
  Queue queue_{Pairs{this}};

  uint32_t characters_ = 0;  // the number of symbols that are characters
  uint32_t first_merge_ = 0;  // the number of symbols that are characters or initial pieces
  std::vector<uint64_t> counts_;  // the count of each merge
  std::vector<uint16_t> left_lengths_;  // characters in the left part of the pair of each merge
  SlotIndex pieces_;  // an index, by text, of the symbols with more than one character

  PieceRule rule_;
  PairFinder finder_;
  // Working memory of a merge, which is kept so that not every merge has to allocate it.
  // `losses_` contains, for each symbol, the decrease of the count of its pair with the left part
  // (kLeft) or the right part (kRight) of the merged pair.
  std::vector<uint64_t> losses_[2];
  std::vector<uint32_t> losers_[2];  // the symbols for which losses_ is not 0
  std::vector<uint32_t> merged_positions_;
};

// Makes merges like `make`, but also returns when pairs must be recorded again. Before it returns
// for this reason, it may undo all merges. The caller then records the pairs, and calls this
// function again, which repeats the merges.
inline void Merges::make_recorded(size_t wanted, const Crew& crew) {
  while (size() < wanted && !must_record_) {
    crew.check_cancelled();
    if (active_set_ && size() % kRenewal == 0) renew_active_set();
    const uint32_t best = queue_.pop();
    if (best == Queue::kNone) {
      if (floor_ == last_floor_) break;
      lower_floor();
    } else if (pairs_[best].count < surely_active_) {
      start_active_set();
    } else {
      merge(pairs_[best]);
    }
  }
}

inline void Merges::record(Crew& crew) {
  std::vector<FoundPairs> parts = find_pairs(text_, symbols_, rule_, floor_, crew);
  size_t recorded = 0;
  for (const FoundPairs& part : parts) recorded += part.pairs.size();
  // Also reserves space for the pairs that merges add, so that a large table is rarely copied. The
  // system provides memory only for the space that is used.
  pairs_.reserve(2 * recorded);
  for (FoundPairs& part : parts) {
    for (const Pair& pair : part.pairs) add_pair(pair);
    std::vector<Pair>().swap(part.pairs);
    arenas_.push_back(std::move(part.arena));
  }
  if (cache_) cache_all_pairs();
  must_record_ = false;
}

inline void Merges::encode_text(const ScoredPieces& initial, const CancelFlag& cancel) {
  CorpusEncoder encoder(initial, symbols_);
  encoder.encode(text_, cancel);
  for (; first_merge_ < symbols_.size(); ++first_merge_) add_piece(first_merge_);
  text_.pack(symbols_);
}

// Renews the active set. If the set itself is not needed, only computes `surely_active_`: a count
// so high that every pair with this count or a higher one is in the set.
inline void Merges::renew_active_set() {
  if (!cache_ || size() < cache_used_from_) {
    surely_active_ = levels_.reached_by(active_size(levels_.size()));
    return;
  }
  surely_active_ = 0;
  queue_.clear();
  for (const uint32_t pair : cache_->most_frequent(pairs_)) queue_.push(pairs_[pair].count, pair);
}

// Returns the first floor, the count below which pairs are not recorded. `mean` is the number of
// characters in the corpus, divided by the expected number of merges. With an active set, the floor
// is lower, because the set depends on the counts of all pairs except the rarest. If `mean` is
// small, the last merges may need pairs that occur once or never, so a high floor has no benefit.
inline uint64_t Merges::first_floor(uint64_t mean) const {
  if (active_set_) return mean < 64 ? last_floor_ : mean / 32;
  return mean < 32 ? last_floor_ : mean / 4;
}

inline uint64_t Merges::next_floor() const {
  return floor_ == 1 ? 0 : std::max<uint64_t>(floor_ / (active_set_ ? 8 : 5), 1);
}

inline void Merges::lower_floor() {
  const uint64_t floor = next_floor();
  // With an active set, merges start over, because surely_active_ was computed only from the pairs
  // above the old floor.
  if (floor == 0 || active_set_) return start_over(floor);
  record_again(floor);
  text_.pack(symbols_);
}

inline void Merges::start_active_set() {
  cache_ = std::make_unique<SymbolCache>();
  cache_used_from_ = size() - size() % kRenewal;
  start_over(0);
}

// Undoes all merges: splits the text into characters. When the pairs above the new floor have been
// recorded, the same merges are made again.
inline void Merges::start_over(uint64_t floor) {
  record_again(floor);
  text_.split_into_characters(symbols_, characters_);
  symbols_.keep(characters_);
  pieces_.clear();
  counts_.clear();
  left_lengths_.clear();
}

// Requests that the pairs be recorded again with the given floor. Drops the old pairs immediately,
// to free their memory.
inline void Merges::record_again(uint64_t floor) {
  drop_pairs();
  floor_ = floor;
  must_record_ = true;
}

inline void Merges::drop_pairs() {
  pairs_ = PairTable();
  levels_ = CountLevels();
  arenas_.clear();
  arena_ = PositionArena();
  queue_.clear();
}

// Records the pairs of a merged symbol with its neighbours on one side.
inline void Merges::record_merged(Side side, uint32_t merged) {
  finder_.find(side, merged, merged_positions_.data(), merged_positions_.size(), floor_, arena_,
               [this](const Pair& pair) { add_pair(pair); });
}

inline void Merges::add_pair(const Pair& pair) {
  const uint32_t id = pairs_.add(pair);
  queue_.push(pair.count, id);
  if (active_set_) levels_.add(pair.count);
}

// Adds the symbols and pairs of the text to the cache, in the reference's order.
inline void Merges::cache_all_pairs() {
  for (uint32_t symbol = 0; symbol < characters_; ++symbol) {
    cache_->add_character(symbols_[symbol][0]);
  }
  for (size_t position = 0; position + 1 < text_.size(); ++position) {
    if (is_symbol(text_[position]) && is_symbol(text_[position + 1])) {
      cache_pair(text_[position], text_[position + 1]);
    }
  }
}

// Adds the pairs around the positions of a merge to the cache. Where the merged symbol occurs twice
// in a row, the reference adds the pair that follows the first occurrence before it merges the
// second one. That pair therefore consists of the merged symbol and the left part of the second
// occurrence.
inline void Merges::cache_new_pairs(const Pair& pair, uint32_t merged) {
  cache_->add_merged(pair.left, pair.right);
  const uint32_t width = text_.width(merged);
  for (const uint32_t position : merged_positions_) {
    const uint32_t before = text_[text_.position_before(position)];
    const uint32_t after = text_[position + width];
    if (is_symbol(before)) cache_pair(before, merged);
    if (is_symbol(after)) cache_pair(merged, after == merged ? pair.left : after);
  }
  cache_->erase_pair(pair.left, pair.right);
}

inline void Merges::cache_pair(uint32_t left, uint32_t right) {
  const uint32_t pair = pairs_.find(left, right);
  if (pair != PairTable::kNone) cache_->add_pair(left, right, pair);
}

// Merges a pair, unless its text is already a piece.
inline void Merges::merge(Pair pair) {
  if (active_set_) levels_.remove(pair.count);
  const uint32_t merged = symbols_.add(pair.left, pair.right);
  if (!add_piece(merged)) {
    symbols_.keep(merged);
    if (cache_) cache_->erase_pair(pair.left, pair.right);
    return;
  }
  text_.add_symbol(pair.left, pair.right);
  counts_.push_back(pair.count);
  left_lengths_.push_back(static_cast<uint16_t>(symbols_.length(pair.left)));
  for (std::vector<uint64_t>& losses : losses_) losses.resize(symbols_.size());

  const bool repeats = replace(pair, merged);
  subtract_losses(kLeft, pair.left);
  subtract_losses(kRight, pair.right);
  record_merged(kRight, merged);
  record_merged(kLeft, merged);
  // If the pair occurs twice in a row, the reference merges the first occurrence first. For a
  // moment, the left part of the second occurrence follows the merged symbol. The reference records
  // this pair, too, so the pair is added here with a count of zero.
  if (floor_ == 0 && repeats && pairs_.find(merged, pair.left) == PairTable::kNone &&
      finder_.allows(merged, pair.left)) {
    add_pair({merged, pair.left, 0, nullptr, 0});
  }
  if (cache_) cache_new_pairs(pair, merged);
}

// Puts the merged symbol into the text, and stores the symbol's positions. Also stores the losses:
// the numbers by which the counts of the neighbouring pairs fall. Returns whether the merged symbol
// follows itself anywhere.
inline bool Merges::replace(const Pair& pair, uint32_t merged) {
  const uint32_t left_width = text_.width(pair.left), width = text_.width(merged);
  const bool of_equals = pair.left == pair.right;
  const auto lose = [this](Side side, uint32_t symbol, uint64_t count) {
    if (losses_[side][symbol] == 0) losers_[side].push_back(symbol);
    losses_[side][symbol] += count;
  };
  bool repeats = false;
  merged_positions_.clear();
  for (uint32_t i = 0; i < pair.size; ++i) {
    const uint32_t position = pair.positions[i];
    if (i + PairFinder::kAhead < pair.size) {
      text_.prefetch(pair.positions[i + PairFinder::kAhead]);
    }
    if (text_[position] != pair.left || text_[position + left_width] != pair.right) continue;
    const uint64_t count = text_.count_at(position);
    const uint32_t before = text_[text_.position_before(position)];
    const uint32_t after = text_[position + width];
    if (before == merged) {
      repeats = true;
    } else if (is_symbol(before) && !(of_equals && before == pair.left)) {
      lose(kLeft, before, count);
    }
    if (is_symbol(after) && !(of_equals && after == pair.right)) lose(kRight, after, count);
    text_.merge(position, merged, left_width, width);
    merged_positions_.push_back(position);
  }
  return repeats;
}

// Subtracts `losses_` from the counts of the pairs of `symbol` with its neighbours on one side.
inline void Merges::subtract_losses(Side side, uint32_t symbol) {
  for (const uint32_t other : losers_[side]) {
    const uint32_t pair =
        side == kLeft ? pairs_.find(other, symbol) : pairs_.find(symbol, other);
    if (pair != PairTable::kNone) lower_count(pairs_[pair].count, losses_[side][other]);
    losses_[side][other] = 0;
  }
  losers_[side].clear();
}

inline void Merges::lower_count(uint64_t& count, uint64_t by) {
  if (active_set_) levels_.remove(count);
  count -= by;
  if (active_set_) levels_.add(count);
}

// Adds the text of a symbol to the pieces. Returns whether the text is a new piece.
inline bool Merges::add_piece(uint32_t symbol) {
  const std::u32string_view text = symbols_[symbol];
  const auto* bytes = reinterpret_cast<const char*>(text.data());
  const uint32_t hash = hash_bytes(bytes, text.size() * sizeof(char32_t));
  const auto equal = [&](uint32_t known) { return symbols_[known] == text; };
  return pieces_.find_or_insert(hash, symbol, equal) == symbol;
}

// Returns a number that consists of the length of a pair's text and as many of the first characters
// of the text as fit. This number decides the order of most pairs with the same count, so few texts
// have to be compared.
inline uint64_t Merges::rank(uint32_t pair) const {
  const std::u32string_view left = symbols_[pairs_[pair].left];
  const std::u32string_view right = symbols_[pairs_[pair].right];
  const auto character = [&](size_t i) -> uint64_t {
    return i < left.size() ? left[i] : i < left.size() + right.size() ? right[i - left.size()] : 0;
  };
  const uint64_t length = std::min<uint64_t>(left.size() + right.size(), 255);
  // Texts with a length of 255 here may differ in length. `comes_later` orders them.
  if (length == 255) return length << 56;
  return length << 56 | character(0) << 35 | character(1) << 14 | character(2) >> 7;
}

inline bool Merges::comes_later(uint32_t a, uint32_t b) const {
  const Pair& x = pairs_[a];
  const Pair& y = pairs_[b];
  const uint32_t x_length = symbols_.length(x.left) + symbols_.length(x.right);
  const uint32_t y_length = symbols_.length(y.left) + symbols_.length(y.right);
  if (x_length != y_length) return x_length > y_length;
  return symbols_.precedes(y.left, y.right, x.left, x.right);
}

}  // namespace spmcompat
