// Byte-pair merges, the most frequent pair first, as sentencepiece 0.2.3 chooses them.
//
// Of two pairs with the same count the one of fewer characters comes first, then the one whose
// text is smaller. In a run like "aaa" the pairs overlap, and both are counted; merging goes
// from left to right. A pair that no longer stands in the text keeps its place with a count of
// zero: the reference takes such pairs too when nothing else is left.
//
// The text is every distinct segment once, the most frequent first, as an array of symbols. A
// symbol stands at the place of its first character; its other places are holes, of which the
// last one tells how far back the symbol is. All places where a pair stands come into being
// together, when the later of its two symbols does, and from then on they only become fewer.
// So a pair gets the list of its places once, and what changes around a merge is added up by
// neighbour before it is looked up.
//
// Most pairs are too rare ever to be merged. Those below a floor are not noted at all; when no
// pair above it is left, the floor is lowered and the pairs of the text are noted again. Only
// where even the pairs that are no more are wanted does every pair have to be noted from the
// beginning: the floor is zero then.
//
// Earlier releases choose among an active set (active_set.hpp). As long as the best pair of all
// is so frequent that it surely is in that set, it is the best of the set, and nothing else has
// to be known. Where that ends, all merges are made again up to the last renewal of the set, with
// every pair noted, and from there on the set itself is made whenever it is renewed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "spmcompat/bpe/active_set.hpp"
#include "spmcompat/bpe/merge_queue.hpp"
#include "spmcompat/bpe/pairs.hpp"
#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/segments/segment_counts.hpp"
#include "spmcompat/bpe/symbols.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

class Merges {
 public:
  // `expected` tells about how many merges will be made. With `active_set` merges are chosen among
  // that; the segments must come as they first stand in the text, and lack no character of it.
  // They are freed when they are laid out.
  Merges(SegmentCounts segments, const PieceRule& rule, size_t expected, bool active_set)
      : rule_(rule), active_set_(active_set) {
    const uint64_t characters = lay_out(std::move(segments));
    floor_ = characters / (kRarity * std::max<size_t>(expected, 1));
    if (floor_ <= 1) floor_ = 0;
    note_all_pairs();
  }
  Merges(const Merges&) = delete;

  // Makes `wanted` merges more, or as many as there are; returns how many.
  size_t make(size_t wanted, const volatile int& cancelled) {
    size_t made = 0;
    while (made < wanted && !cancelled) {
      if (active_set_ && size() % kRenewal == 0) renew();
      const uint32_t best = next_best();
      if (best == PairIndex::kNone) {
        if (floor_ == 0) break;
        lower_floor(cancelled);
      } else if (pairs_[best].count < sure_) {
        follow_active_set(cancelled);
      } else if (accept(pairs_[best])) {
        ++made;
      }
    }
    return made;
  }

  size_t size() const { return counts_.size(); }
  std::string piece(size_t merge) const { return symbols_.utf8(first_merged_ + merge); }
  // How often the pair stood in the text when it was merged.
  uint64_t count(size_t merge) const { return counts_[merge]; }

 private:
  // A place of the text holds a symbol, or one of these.
  static constexpr uint32_t kHole = 0x80000000u;  // | how far back its symbol begins
  static constexpr uint32_t kEdge = 0xffffffffu;  // between two segments

  // A pair is rare if it has less than one of so many parts of what a merge has on average.
  static constexpr uint64_t kRarity = 32;

  enum Side { kLeft, kRight };

  struct Later {
    const Merges* merges;
    bool operator()(uint32_t a, uint32_t b) const { return merges->comes_later(a, b); }
  };

  // What a symbol's neighbours of one kind add up to.
  struct Tally {
    uint64_t count = 0;
    uint32_t size = 0;
    uint32_t* places = nullptr;
  };

  // Finds the counts of places that are asked for in ascending order.
  class Weights {
   public:
    explicit Weights(const Merges& merges) : starts_(merges.starts_), counts_(merges.weights_) {}
    uint64_t at(uint32_t place) {
      if (place >= starts_[run_ + 1]) {
        run_ = std::upper_bound(starts_.begin() + run_ + 1, starts_.end(), place) -
               starts_.begin() - 1;
      }
      return counts_[run_];
    }

   private:
    const std::vector<uint32_t>& starts_;
    const std::vector<uint64_t>& counts_;
    size_t run_ = 0;
  };

  uint64_t lay_out(SegmentCounts segments);
  void renew();
  uint32_t next_best();
  void lower_floor(const volatile int& cancelled);
  void follow_active_set(const volatile int& cancelled);
  void start_over(uint64_t floor, const volatile int& cancelled);
  void note_all_pairs();
  void cache_all_pairs();
  void cache_new_pairs(const Pair& pair, uint32_t merged);
  void cache_pair(uint32_t left, uint32_t right);
  bool accept(Pair pair);
  bool replace(const Pair& pair, uint32_t merged);
  void take_away(Side side, uint32_t symbol);
  void lower(uint64_t& count, uint64_t by);
  void note_pairs(Side side, uint32_t symbol, const uint32_t* places, size_t size);
  void add_pair(uint32_t left, uint32_t right, const Tally& tally);
  bool allows(uint32_t left, uint32_t right);
  bool comes_later(uint32_t a, uint32_t b) const;

  bool is_symbol(uint32_t at) const { return !(at & kHole); }
  // The place of the symbol before the one at `place`, or an edge.
  uint32_t place_before(uint32_t place) const {
    const uint32_t at = text_[place - 1];
    return is_symbol(at) || at == kEdge ? place - 1 : place - 1 - (at & ~kHole);
  }

  PieceRule rule_;
  Symbols symbols_;
  std::vector<uint32_t> text_;
  std::vector<uint32_t> starts_;   // of stretches of segments with the same count
  std::vector<uint64_t> weights_;  // of the stretches

  const bool active_set_;
  uint64_t sure_ = 0;  // pairs with that count or a higher one are active
  CountLevels levels_;  // of the pairs noted
  std::unique_ptr<SymbolCache> cache_;  // where the active set itself is made
  size_t cache_used_ = 0;  // after so many merges

  uint64_t floor_ = 0;  // the least count of a pair that is noted
  std::vector<Pair> pairs_;
  PairIndex index_;
  PlaceArena arena_;
  MergeQueue<Later> queue_{Later{this}};

  uint32_t first_merged_ = 0;
  std::vector<uint64_t> counts_;  // of the merges
  std::unordered_set<std::string> pieces_;

  std::vector<uint64_t> lost_[2];  // symbol -> what its pair with the left or right part loses
  std::vector<uint32_t> losers_[2];
  std::vector<Tally> tallies_;  // symbol -> as a neighbour
  std::vector<uint32_t> neighbours_;
  std::vector<uint32_t> found_;
  std::vector<uint32_t> merged_places_;
  std::u32string piece_;
};

// Returns the number of characters, each as often as its segment stands in the text.
inline uint64_t Merges::lay_out(SegmentCounts segments) {
  std::vector<uint32_t> order(segments.size());
  size_t places = 1;
  for (uint32_t id = 0; id < order.size(); ++id) {
    order[id] = id;
    places += count_chars(segments.text(id)) + 1;
  }
  if (places >= kHole) throw std::length_error("the distinct text is too large");
  if (!active_set_) {
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return segments.count(a) != segments.count(b) ? segments.count(a) > segments.count(b)
                                                    : a < b;
    });
  }

  std::vector<uint32_t> symbol_of(0x110000, kEdge);
  uint64_t characters = 0;
  text_.reserve(places);
  text_.push_back(kEdge);
  for (const uint32_t id : order) {
    if (weights_.empty() || weights_.back() != segments.count(id)) {
      starts_.push_back(static_cast<uint32_t>(text_.size()));
      weights_.push_back(segments.count(id));
    }
    for_each_character(segments.text(id), [&](char32_t c) {
      if (symbol_of[c] == kEdge) symbol_of[c] = symbols_.add(c);
      text_.push_back(symbol_of[c]);
      characters += segments.count(id);
    });
    text_.push_back(kEdge);
  }
  starts_.push_back(std::numeric_limits<uint32_t>::max());
  first_merged_ = symbols_.size();
  return characters;
}

// Renews the active set, or only what is sure about it.
inline void Merges::renew() {
  if (!cache_ || size() < cache_used_) {
    sure_ = levels_.reached_by(active_size(levels_.size()));
    return;
  }
  sure_ = 0;
  queue_.clear();
  for (const uint32_t pair : cache_->most_frequent(pairs_)) queue_.push(pairs_[pair].count, pair);
}

// Takes the best pair out of the queue; tells if there is none.
inline uint32_t Merges::next_best() {
  while (!queue_.empty()) {
    const auto best = queue_.pop();
    const uint64_t count = pairs_[best.pair].count;
    if (count == best.count) return best.pair;
    if (count >= floor_) queue_.push(count, best.pair);
  }
  return PairIndex::kNone;
}

inline void Merges::lower_floor(const volatile int& cancelled) {
  const uint64_t floor = floor_ == 1 ? 0 : std::max<uint64_t>(floor_ / 8, 1);
  // What is sure about the active set was found out among the pairs above the old floor.
  if (floor == 0 || active_set_) return start_over(floor, cancelled);
  floor_ = floor;
  note_all_pairs();
}

inline void Merges::follow_active_set(const volatile int& cancelled) {
  cache_ = std::make_unique<SymbolCache>();
  cache_used_ = size() - size() % kRenewal;
  start_over(0, cancelled);
}

// Makes the same merges again, and notes the pairs above another floor on the way.
inline void Merges::start_over(uint64_t floor, const volatile int& cancelled) {
  std::unordered_map<char32_t, uint32_t> symbol_of;
  for (uint32_t symbol = 0; symbol < first_merged_; ++symbol) {
    symbol_of[symbols_[symbol][0]] = symbol;
  }
  for (size_t place = 0; place < text_.size();) {
    const uint32_t symbol = text_[place];
    if (symbol == kEdge) {
      ++place;
      continue;
    }
    for (const char32_t c : symbols_[symbol]) text_[place++] = symbol_of[c];
  }
  symbols_.keep(first_merged_);
  pieces_.clear();
  floor_ = floor;
  note_all_pairs();
  if (cache_) cache_all_pairs();
  const size_t made = counts_.size();
  counts_.clear();
  make(made, cancelled);
}

inline void Merges::note_all_pairs() {
  pairs_.clear();
  levels_ = CountLevels();
  index_ = PairIndex();
  arena_ = PlaceArena();
  queue_.clear();
  std::vector<uint32_t> begin(symbols_.size() + 1, 0);
  for (const uint32_t at : text_) {
    if (is_symbol(at)) ++begin[at + 1];
  }
  for (size_t symbol = 1; symbol < begin.size(); ++symbol) begin[symbol] += begin[symbol - 1];
  std::vector<uint32_t> places(begin.back());
  std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
  for (uint32_t place = 0; place < text_.size(); ++place) {
    if (is_symbol(text_[place])) places[next[text_[place]]++] = place;
  }
  tallies_.resize(symbols_.size());
  for (uint32_t symbol = 0; symbol < symbols_.size(); ++symbol) {
    note_pairs(kRight, symbol, places.data() + begin[symbol], begin[symbol + 1] - begin[symbol]);
  }
}

// Puts the symbols and pairs of the text into the reference's table, as it does.
inline void Merges::cache_all_pairs() {
  for (uint32_t symbol = 0; symbol < first_merged_; ++symbol) {
    cache_->add_character(symbols_[symbol][0]);
  }
  for (size_t place = 0; place + 1 < text_.size(); ++place) {
    if (is_symbol(text_[place]) && is_symbol(text_[place + 1])) {
      cache_pair(text_[place], text_[place + 1]);
    }
  }
}

// The same for the pairs around the places of a merge. Where the merged symbol stands behind
// itself, it stood before the left part when the first of the two was merged.
inline void Merges::cache_new_pairs(const Pair& pair, uint32_t merged) {
  cache_->add_merged(pair.left, pair.right);
  const uint32_t length = symbols_.length(merged);
  for (const uint32_t place : merged_places_) {
    const uint32_t before = text_[place_before(place)];
    const uint32_t after = text_[place + length];
    if (is_symbol(before)) cache_pair(before, merged);
    if (is_symbol(after)) cache_pair(merged, after == merged ? pair.left : after);
  }
  cache_->erase_pair(pair.left, pair.right);
}

inline void Merges::cache_pair(uint32_t left, uint32_t right) {
  const uint32_t pair = index_.find(left, right);
  if (pair != PairIndex::kNone) cache_->add_pair(left, right, pair);
}

// Merges a pair, unless its text is a piece already.
inline bool Merges::accept(Pair pair) {
  if (active_set_) levels_.remove(pair.count);
  const uint32_t merged = symbols_.add(pair.left, pair.right);
  if (!pieces_.insert(symbols_.utf8(merged)).second) {
    symbols_.keep(merged);
    if (cache_) cache_->erase_pair(pair.left, pair.right);
    return false;
  }
  counts_.push_back(pair.count);
  tallies_.resize(symbols_.size());
  for (std::vector<uint64_t>& lost : lost_) lost.resize(symbols_.size());

  const bool repeats = replace(pair, merged);
  take_away(kLeft, pair.left);
  take_away(kRight, pair.right);
  note_pairs(kRight, merged, merged_places_.data(), merged_places_.size());
  note_pairs(kLeft, merged, merged_places_.data(), merged_places_.size());
  // Where the pair stood twice in a row, the first merge met the left part of the second.
  if (floor_ == 0 && repeats && index_.find(merged, pair.left) == PairIndex::kNone &&
      allows(merged, pair.left)) {
    add_pair(merged, pair.left, Tally());
  }
  if (cache_) cache_new_pairs(pair, merged);
  return true;
}

// Puts the merged symbol into the text, notes its places and what the pairs around them lose.
// Tells whether it came to stand behind itself.
inline bool Merges::replace(const Pair& pair, uint32_t merged) {
  const uint32_t to_right = symbols_.length(pair.left);
  const uint32_t length = symbols_.length(merged);
  const bool of_equals = pair.left == pair.right;
  const auto lose = [this](Side side, uint32_t symbol, uint64_t count) {
    if (lost_[side][symbol] == 0) losers_[side].push_back(symbol);
    lost_[side][symbol] += count;
  };
  bool repeats = false;
  Weights weights(*this);
  merged_places_.clear();
  for (uint32_t i = 0; i < pair.size; ++i) {
    const uint32_t place = pair.places[i];
    if (text_[place] != pair.left || text_[place + to_right] != pair.right) continue;
    const uint64_t count = weights.at(place);
    const uint32_t before = text_[place_before(place)];
    const uint32_t after = text_[place + length];
    if (before == merged) {
      repeats = true;
    } else if (is_symbol(before) && !(of_equals && before == pair.left)) {
      lose(kLeft, before, count);
    }
    if (is_symbol(after) && !(of_equals && after == pair.right)) lose(kRight, after, count);
    text_[place] = merged;
    text_[place + to_right] = kHole | to_right;
    text_[place + length - 1] = kHole | (length - 1);
    merged_places_.push_back(place);
  }
  return repeats;
}

// Takes what was lost from the pairs of `symbol` with what stood on its side.
inline void Merges::take_away(Side side, uint32_t symbol) {
  for (const uint32_t other : losers_[side]) {
    const uint32_t pair =
        side == kLeft ? index_.find(other, symbol) : index_.find(symbol, other);
    if (pair != PairIndex::kNone) lower(pairs_[pair].count, lost_[side][other]);
    lost_[side][other] = 0;
  }
  losers_[side].clear();
}

inline void Merges::lower(uint64_t& count, uint64_t by) {
  if (active_set_) levels_.remove(count);
  count -= by;
  if (active_set_) levels_.add(count);
}

// Notes the pairs of a symbol, which stands at these places, with what stands on one side of it.
// Where it stands behind itself, that is a pair to its right.
inline void Merges::note_pairs(Side side, uint32_t symbol, const uint32_t* places, size_t size) {
  const uint32_t length = symbols_.length(symbol);
  Weights weights(*this);
  neighbours_.resize(size);
  found_.clear();
  for (size_t i = 0; i < size; ++i) {
    const uint32_t other =
        side == kLeft ? text_[place_before(places[i])] : text_[places[i] + length];
    neighbours_[i] = other;
    if (!is_symbol(other) || (side == kLeft && other == symbol)) continue;
    Tally& tally = tallies_[other];
    if (tally.size++ == 0) found_.push_back(other);
    tally.count += weights.at(places[i]);
  }
  for (const uint32_t other : found_) {
    const uint32_t left = side == kLeft ? other : symbol;
    const uint32_t right = side == kLeft ? symbol : other;
    if (tallies_[other].count < floor_ || !allows(left, right)) continue;
    tallies_[other].places = arena_.reserve(tallies_[other].size);
    add_pair(left, right, tallies_[other]);
  }
  for (size_t i = 0; i < size; ++i) {
    if (!is_symbol(neighbours_[i])) continue;
    Tally& tally = tallies_[neighbours_[i]];
    if (tally.places == nullptr) continue;
    *tally.places++ = side == kLeft ? places[i] - symbols_.length(neighbours_[i]) : places[i];
  }
  for (const uint32_t other : found_) tallies_[other] = Tally();
}

inline void Merges::add_pair(uint32_t left, uint32_t right, const Tally& tally) {
  const uint32_t id = static_cast<uint32_t>(pairs_.size());
  pairs_.push_back({left, right, tally.count, tally.places, tally.size});
  index_.insert(left, right, id);
  queue_.push(tally.count, id);
  if (active_set_) levels_.add(tally.count);
}

inline bool Merges::allows(uint32_t left, uint32_t right) {
  if (symbols_.length(left) + symbols_.length(right) > rule_.max_length) return false;
  piece_.assign(symbols_[left]);
  piece_.append(symbols_[right]);
  return rule_.allows(piece_.data(), piece_.size());
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
