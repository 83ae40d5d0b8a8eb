// Lanes: the order in which words are added up.
//
// Word i belongs to lane i mod n; every lane has sums of its own, and these are added in order, as
// the reference does it with n threads. Here any worker takes the next words of any lane, and only
// to add up what it found it waits until all words before them have been added.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "spmcompat/unigram/lattice/lattice.hpp"
#include "spmcompat/counting/pretoken_counts.hpp"

namespace spmcompat {

// What one lane adds up.
struct LaneSums {
  std::vector<float> expected;    // of each piece; the unknown one counts for that of id 0
  std::vector<NodePlace> places;  // of each piece any, where the pass looks for them
  float objective = 0.0f;
  double log_likelihood = 0.0;

  // A lane without words is empty, and so is one that was cancelled before its first.
  void add(const LaneSums& lane) {
    expected.resize(std::max(expected.size(), lane.expected.size()));
    places.resize(std::max(places.size(), lane.places.size()));
    for (size_t i = 0; i < lane.expected.size(); ++i) expected[i] += lane.expected[i];
    for (size_t i = 0; i < lane.places.size(); ++i) {
      if (!places[i].known()) places[i] = lane.places[i];
    }
    objective += lane.objective;
    log_likelihood += lane.log_likelihood;
  }
};

// The words of some lanes, one after the other, with the lattices of those to come on their way
// from the memory to the processor.
class LaneWords {
 public:
  LaneWords(const SegmentedCorpus& corpus, const Lattices& lattices, size_t first_lane,
            size_t last_lane, size_t lanes)
      : corpus_(corpus),
        lattices_(lattices),
        word_(first_lane),
        lane_(first_lane),
        last_lane_(last_lane),
        lanes_(lanes) {}

  bool done() const { return word_ >= corpus_.word_count.size(); }
  void next() {
    word_ += lanes_;
    if (done() && lane_ < last_lane_) word_ = ++lane_;
  }
  void fetch_ahead() const {
    for_each_segment(word_ + 8 * lanes_, [&](uint32_t s) { lattices_.fetch_begin(s); });
    for_each_segment(word_ + 4 * lanes_, [&](uint32_t s) { lattices_.fetch_positions(s); });
  }

  const uint32_t* segments() const {
    return corpus_.word_segments.data() + corpus_.word_begin[word_];
  }
  size_t size() const { return corpus_.word_begin[word_ + 1] - corpus_.word_begin[word_]; }
  float count() const { return static_cast<float>(corpus_.word_count[word_]); }

 private:
  template <typename Function>
  void for_each_segment(size_t word, Function function) const {
    if (word >= corpus_.word_count.size()) return;
    const uint64_t end = corpus_.word_begin[word + 1];
    for (uint64_t i = corpus_.word_begin[word]; i < end; ++i) function(corpus_.word_segments[i]);
  }

  const SegmentedCorpus& corpus_;
  const Lattices& lattices_;
  size_t word_, lane_, last_lane_, lanes_;
};

// All lanes of one pass over the corpus.
class Lanes {
 public:
  // With `unbroken` all lanes, one after the other, add to the same sums.
  Lanes(const SegmentedCorpus& corpus, const Lattices& lattices, size_t lanes, bool unbroken,
        size_t workers, const volatile int* cancel)
      : window_(workers), cancel_(cancel) {
    if (unbroken) {
      lanes_.emplace_back(LaneWords(corpus, lattices, 0, lanes - 1, lanes));
      return;
    }
    for (size_t i = 0; i < lanes; ++i) {
      lanes_.emplace_back(LaneWords(corpus, lattices, i, i, lanes));
    }
  }

  // What one worker does. pass.add(segments, size, count) takes words until pass.full(); `find`
  // of the pass computes what sum(lane sums) then adds; pass.clear() goes before other words.
  template <typename Pass, typename Sum>
  void work(Pass& pass, void (Pass::*find)(), Sum sum) {
    try {
      while (Lane* lane = join()) {
        while (const std::optional<size_t> turn = take(*lane, pass)) {
          (pass.*find)();
          if (!await(*lane, *turn)) return;
          sum(lane->sums);
          end_turn(*lane);
          pass.clear();
        }
        leave(*lane);
      }
    } catch (...) {
      stop();
      throw;
    }
  }

  // The sums of all lanes; they can be taken once, when every worker is done.
  LaneSums take_total() { return std::move(total_); }

 private:
  struct Lane {
    explicit Lane(LaneWords given) : words(given) {}

    LaneWords words;
    std::mutex taking;
    size_t taken = 0;  // batches
    size_t added = 0;
    size_t workers = 0;  // that are at it
    bool exhausted = false;
    LaneSums sums;
  };

  // Returns the lane at which the fewest workers are, the first of them, or null when all are
  // exhausted. As few lanes as there are workers hold sums.
  Lane* join() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (; !stopped_; changed_.wait(lock)) {
      Lane* lane = nullptr;
      const size_t end = std::min(merged_ + window_, lanes_.size());
      for (size_t i = merged_; i < end; ++i) {
        if (lanes_[i].exhausted) continue;
        if (lane == nullptr || lanes_[i].workers < lane->workers) lane = &lanes_[i];
      }
      if (lane != nullptr) {
        ++lane->workers;
        return lane;
      }
      if (end == lanes_.size()) break;
    }
    return nullptr;
  }

  // Fills the pass with the next words; returns their turn, or nothing where there are none.
  template <typename Pass>
  std::optional<size_t> take(Lane& lane, Pass& pass) {
    const std::lock_guard<std::mutex> lock(lane.taking);
    LaneWords& words = lane.words;
    if (words.done() || *cancel_) return {};
    for (; !words.done() && !pass.full(); words.next()) {
      words.fetch_ahead();
      pass.add(words.segments(), words.size(), words.count());
    }
    return lane.taken++;
  }

  // Returns whether the turn comes: not after an error of another worker.
  bool await(const Lane& lane, size_t turn) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || lane.added == turn; });
    return !stopped_;
  }
  void end_turn(Lane& lane) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++lane.added;
    changed_.notify_all();
  }

  // The last worker that leaves an exhausted lane adds it to the total.
  void leave(Lane& lane) {
    const std::lock_guard<std::mutex> lock(mutex_);
    lane.exhausted = true;
    --lane.workers;
    for (; merged_ < lanes_.size() && is_complete(lanes_[merged_]); ++merged_) {
      LaneSums sums = std::move(lanes_[merged_].sums);
      if (merged_ == 0) {
        total_ = std::move(sums);
      } else {
        total_.add(sums);
      }
    }
    changed_.notify_all();
  }
  static bool is_complete(const Lane& lane) { return lane.exhausted && lane.workers == 0; }

  void stop() {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

  size_t window_;  // lanes that may be open
  const volatile int* cancel_;
  std::deque<Lane> lanes_;
  std::mutex mutex_;  // of all that follows, and of all of a lane but its words and sums
  std::condition_variable changed_;
  size_t merged_ = 0;  // lanes that the total holds
  LaneSums total_;
  bool stopped_ = false;
};

}  // namespace spmcompat
