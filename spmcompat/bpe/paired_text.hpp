// A text of symbols with its pairs of neighbouring symbols, their counts and their positions.
//
// In "aaa", the pair "a" "a" occurs twice, and both occurrences are counted, but merging goes from
// left to right. A pair that no longer occurs keeps its entry with a count of zero.
//
// A pair first occurs when the later of its two symbols is created. After that, it can only lose
// positions. So the list of a pair's positions is stored once, and outdated positions are skipped
// later. A merge lowers the counts of the pairs around it. These losses are first added up for each
// neighbouring symbol, so each pair is looked up only once.
//
// Most pairs are too rare ever to be merged. Pairs whose count is below a floor are not recorded.
// With a floor of zero, pairs that no longer occur can be merged, too.
//
// A policy, such as PiecePolicy, decides which pairs may be merged, and which of two pairs with the
// same count comes first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "spmcompat/bpe/count_levels.hpp"
#include "spmcompat/bpe/merge_queue.hpp"
#include "spmcompat/bpe/pair_finder.hpp"
#include "spmcompat/bpe/pairs.hpp"
#include "spmcompat/bpe/symbol_text.hpp"
#include "spmcompat/bpe/symbols.hpp"
#include "spmcompat/bpe/text_pairs.hpp"
#include "spmcompat/runtime/crew.hpp"

namespace spmcompat {

template <typename Policy>
class PairedText {
 public:
  static constexpr uint32_t kNone = PairTable::kNone;

  // The symbols must outlive the text. With `counts_levels`, `levels` returns a histogram of the
  // counts of the recorded pairs.
  PairedText(const Symbols& symbols, const Policy& policy, bool counts_levels = false)
      : symbols_(symbols),
        policy_(policy),
        finder_(text_, symbols_, policy),
        counts_levels_(counts_levels) {}
  PairedText(const PairedText&) = delete;

  // The text. It may be filled and changed as long as no pairs are recorded.
  SymbolText& text() { return text_; }
  const SymbolText& text() const { return text_; }

  // Records the pairs of the text whose count is `floor` or higher. The text must not contain
  // holes, and no pairs must be recorded.
  void record(uint64_t floor, Crew& crew) {
    floor_ = floor;
    std::vector<FoundPairs> parts = find_pairs(text_, symbols_, policy_, floor, crew);
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
  }

  void drop_pairs() {
    pairs_ = PairTable();
    levels_ = CountLevels();
    arenas_.clear();
    arena_ = PositionArena();
    queue_.clear();
  }

  // Removes the pair that comes first from the queue, and returns its id; kNone if no pair that is
  // recorded is left.
  uint32_t take_best() { return queue_.pop(); }
  // Chooses among these pairs from now on, and among those that merges add.
  void queue_only(const std::vector<uint32_t>& pairs) {
    queue_.clear();
    for (const uint32_t pair : pairs) queue_.push(pairs_[pair].count, pair);
  }

  uint32_t find(uint32_t left, uint32_t right) const { return pairs_.find(left, right); }
  const Pair& operator[](uint32_t pair) const { return pairs_[pair]; }
  const PairTable& pairs() const { return pairs_; }
  const CountLevels& levels() const { return levels_; }
  // Removes a pair from the histogram.
  void remove_level(uint32_t pair) {
    if (counts_levels_) levels_.remove(pairs_[pair].count);
  }

  // Merges a recorded pair into a new symbol, which must have been added to the symbols, wherever it
  // occurs. Returns how often that is. Afterwards, the count of the pair is zero.
  uint64_t merge(uint32_t id, uint32_t merged) {
    const Pair pair = pairs_[id];
    text_.add_symbol(merged, pair.left, pair.right);
    for (std::vector<uint64_t>& losses : losses_) losses.resize(symbols_.size());
    const Replaced replaced = replace(pair, merged);
    pairs_[id].count = 0;
    subtract_losses(kLeft, pair.left);
    subtract_losses(kRight, pair.right);
    record_merged(kRight, merged);
    record_merged(kLeft, merged);
    // If the pair occurs twice in a row, the reference merges the first occurrence first. For a
    // moment, the left part of the second occurrence follows the merged symbol. The reference records
    // this pair, too, so the pair is added here with a count of zero.
    if (floor_ == 0 && replaced.repeats && find(merged, pair.left) == kNone &&
        policy_.allows(merged, pair.left)) {
      add_pair({merged, pair.left, 0, nullptr, 0});
    }
    return replaced.count;
  }

  // Where the last merge was made.
  const std::vector<uint32_t>& merged_positions() const { return merged_positions_; }

 private:
  // The interface through which the queue reads the counts and the order of pairs.
  struct Pairs {
    const PairedText* text;
    uint64_t count(uint32_t pair) const { return text->pairs_[pair].count; }
    bool is_wanted(uint64_t count) const { return count >= text->floor_; }
    uint64_t rank(uint32_t pair) const { return text->policy_.rank(text->pairs_[pair]); }
    bool comes_later(uint32_t a, uint32_t b) const {
      return text->policy_.comes_later(text->pairs_[a], text->pairs_[b]);
    }
  };

  struct Replaced {
    uint64_t count;  // how often the pair was replaced
    bool repeats;    // whether the merged symbol follows itself anywhere
  };
  // Puts the merged symbol into the text, and stores the symbol's positions. Also stores the losses:
  // the numbers by which the counts of the neighbouring pairs fall.
  Replaced replace(const Pair& pair, uint32_t merged) {
    const uint32_t left_width = text_.width(pair.left), width = text_.width(merged);
    const bool of_equals = pair.left == pair.right;
    const auto lose = [this](Side side, uint32_t symbol, uint64_t count) {
      if (losses_[side][symbol] == 0) losers_[side].push_back(symbol);
      losses_[side][symbol] += count;
    };
    Replaced replaced{};
    merged_positions_.clear();
    read_positions(pair, positions_);
    for (uint32_t i = 0; i < pair.size; ++i) {
      const uint32_t position = positions_[i];
      if (i + kAhead < pair.size) text_.prefetch(positions_[i + kAhead]);
      if (text_[position] != pair.left || text_[position + left_width] != pair.right) continue;
      const uint64_t count = text_.count_at(position);
      const uint32_t before = text_[text_.position_before(position)];
      const uint32_t after = text_[position + width];
      if (before == merged) {
        replaced.repeats = true;
      } else if (is_symbol(before) && !(of_equals && before == pair.left)) {
        lose(kLeft, before, count);
      }
      if (is_symbol(after) && !(of_equals && after == pair.right)) lose(kRight, after, count);
      text_.merge(position, merged, left_width, width);
      merged_positions_.push_back(position);
      replaced.count += count;
    }
    return replaced;
  }

  // Records the pairs of a merged symbol with its neighbours on one side.
  void record_merged(Side side, uint32_t merged) {
    finder_.find(side, merged, merged_positions_.data(), merged_positions_.size(), floor_, arena_,
                 [this](const Pair& pair) { add_pair(pair); });
  }

  void add_pair(const Pair& pair) {
    const uint32_t id = pairs_.add(pair);
    queue_.push(pair.count, id);
    if (counts_levels_) levels_.add(pair.count);
  }

  // Subtracts `losses_` from the counts of the pairs of `symbol` with its neighbours on one side.
  void subtract_losses(Side side, uint32_t symbol) {
    for (const uint32_t other : losers_[side]) {
      const uint32_t pair = side == kLeft ? find(other, symbol) : find(symbol, other);
      if (pair != kNone) lower_count(pairs_[pair].count, losses_[side][other]);
      losses_[side][other] = 0;
    }
    losers_[side].clear();
  }

  void lower_count(uint64_t& count, uint64_t by) {
    if (counts_levels_) levels_.remove(count);
    count -= by;
    if (counts_levels_) levels_.add(count);
  }

  static bool is_symbol(uint32_t at) { return SymbolText::is_symbol(at); }

  const Symbols& symbols_;
  Policy policy_;
  SymbolText text_;
  PairFinder<Policy> finder_;

  uint64_t floor_ = 0;
  PairTable pairs_;
  std::vector<PositionArena> arenas_;  // the positions of the pairs that `record` found
  PositionArena arena_;                // the positions of the pairs that `record_merged` found
  MergeQueue<Pairs> queue_{Pairs{this}};
  const bool counts_levels_;
  CountLevels levels_;

  // Working memory of a merge, which is kept so that not every merge has to allocate it.
  // `losses_` contains, for each symbol, the decrease of the count of its pair with the left part
  // (kLeft) or the right part (kRight) of the merged pair.
  std::vector<uint64_t> losses_[2];
  std::vector<uint32_t> losers_[2];  // the symbols for which losses_ is not 0
  std::vector<uint32_t> positions_;
  std::vector<uint32_t> merged_positions_;
};

}  // namespace spmcompat
