// Reduction lanes: the order in which float sums over pretokens are taken.
//
// Pretoken i belongs to lane i mod n. Every lane has sums of its own, and the sums of the lanes are
// added in their order, as the reference does with n threads. A worker takes the next pretokens of
// any lane and computes what they contribute. It waits for its turn only to add this to the sums,
// after all earlier pretokens of the lane. So lanes change the bytes of a model, and workers never
// do.
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

#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/segments/segmented_corpus.hpp"
#include "spmcompat/unigram/lattice/lattice.hpp"

namespace spmcompat {

// What one pass over the corpus sums up, in one lane or in all.
struct ExpectedCounts {
  std::vector<float> expected;          // of each piece; that of id 0 includes the unknown piece's
  std::vector<NodePosition> positions;  // of each piece any one, if the pass looks for them
  float objective = 0.0f;
  double log_likelihood = 0.0;

  // The vectors of a lane without pretokens are empty.
  void add(const ExpectedCounts& lane) {
    expected.resize(std::max(expected.size(), lane.expected.size()));
    positions.resize(std::max(positions.size(), lane.positions.size()));
    for (size_t i = 0; i < lane.expected.size(); ++i) expected[i] += lane.expected[i];
    for (size_t i = 0; i < lane.positions.size(); ++i) {
      if (!positions[i].known()) positions[i] = lane.positions[i];
    }
    objective += lane.objective;
    log_likelihood += lane.log_likelihood;
  }
};

// The pretokens of some lanes, in order. Prefetches the lattices of the next ones.
class LanePretokens {
 public:
  LanePretokens(const Lattices& lattices, size_t first_lane, size_t last_lane, size_t lanes)
      : corpus_(lattices.corpus()),
        lattices_(lattices),
        pretoken_(first_lane),
        lane_(first_lane),
        last_lane_(last_lane),
        lanes_(lanes) {}

  bool done() const { return pretoken_ >= corpus_.pretoken_count.size(); }
  void next() {
    pretoken_ += lanes_;
    if (done() && lane_ < last_lane_) pretoken_ = ++lane_;
  }
  void prefetch() const {
    for_each_segment(pretoken_ + 8 * lanes_, [&](uint32_t s) { lattices_.prefetch_begin(s); });
    for_each_segment(pretoken_ + 4 * lanes_, [&](uint32_t s) { lattices_.prefetch_nodes(s); });
  }

  const uint32_t* segments() const {
    return corpus_.pretoken_segments.data() + corpus_.pretoken_begin[pretoken_];
  }
  size_t size() const {
    return corpus_.pretoken_begin[pretoken_ + 1] - corpus_.pretoken_begin[pretoken_];
  }
  float count() const { return static_cast<float>(corpus_.pretoken_count[pretoken_]); }

 private:
  template <typename Function>
  void for_each_segment(size_t pretoken, Function function) const {
    if (pretoken >= corpus_.pretoken_count.size()) return;
    const uint64_t end = corpus_.pretoken_begin[pretoken + 1];
    for (uint64_t i = corpus_.pretoken_begin[pretoken]; i < end; ++i) {
      function(corpus_.pretoken_segments[i]);
    }
  }

  const SegmentedCorpus& corpus_;
  const Lattices& lattices_;
  size_t pretoken_, lane_, last_lane_, lanes_;
};

// The lanes of one pass over the corpus.
class Lanes {
 public:
  // With `single_sum`, all lanes add to the same sums, one lane after the other.
  Lanes(const Lattices& lattices, size_t lanes, bool single_sum, const Crew& crew)
      : crew_(crew) {
    const size_t sums = single_sum ? 1 : lanes;
    for (size_t i = 0; i < sums; ++i) {
      const size_t last = single_sum ? lanes - 1 : i;
      lanes_.emplace_back(LanePretokens(lattices, i, last, lanes), crew);
    }
  }

  // Does the work of one worker. For each group of pretokens:
  //   1. Calls pass.add(segments, size, count) for each pretoken of the group.
  //   2. Calls `find` of the pass, without a lock.
  //   3. Calls add(pass, sums of the lane) when all earlier groups of the lane have been added.
  //   4. Calls pass.clear().
  template <typename Pass, typename Add>
  void work(Pass& pass, void (Pass::*find)(), Add add) {
    while (Lane* lane = join_lane()) {
      while (const std::optional<size_t> turn = fill(pass, *lane)) {
        (pass.*find)();
        lane->turns.take(*turn, [&] { add(pass, lane->sums); });
        pass.clear();
      }
      leave_lane(*lane);
    }
  }

  // The sums of all lanes; taken once, when every worker is done.
  ExpectedCounts take_total() { return std::move(total_); }

 private:
  struct Lane {
    Lane(LanePretokens given, const Crew& crew) : pretokens(given), turns(crew) {}

    LanePretokens pretokens;
    std::mutex filling;
    size_t filled_groups = 0;
    Turns turns;         // of the groups
    size_t workers = 0;  // that have joined and not left
    bool exhausted = false;
    ExpectedCounts sums;
  };

  // Returns the first lane with the fewest workers, or null when all are exhausted. At most as many
  // lanes as workers are open: every open lane holds sums for all pieces.
  Lane* join_lane() {
    Lane* lane = nullptr;
    size_t end = 0;
    std::unique_lock<std::mutex> lock(mutex_);
    crew_.wait(merging_, lock, [&] {
      end = std::min(merged_ + crew_.size(), lanes_.size());
      for (size_t i = merged_; i < end; ++i) {
        if (lanes_[i].exhausted) continue;
        if (lane == nullptr || lanes_[i].workers < lane->workers) lane = &lanes_[i];
      }
      return lane != nullptr || end == lanes_.size();
    });
    if (lane != nullptr) ++lane->workers;
    return lane;
  }

  // Fills the pass with the lane's next pretokens. Returns the number of this group in the lane, or
  // nothing if there are no more pretokens.
  template <typename Pass>
  std::optional<size_t> fill(Pass& pass, Lane& lane) {
    crew_.check_cancelled();
    const std::lock_guard<std::mutex> lock(lane.filling);
    LanePretokens& pretokens = lane.pretokens;
    if (pretokens.done()) return {};
    for (; !pretokens.done() && !pass.full(); pretokens.next()) {
      pretokens.prefetch();
      pass.add(pretokens.segments(), pretokens.size(), pretokens.count());
    }
    return lane.filled_groups++;
  }

  // The last worker to leave an exhausted lane merges it, and the complete lanes after it, into the
  // total.
  void leave_lane(Lane& lane) {
    const std::lock_guard<std::mutex> lock(mutex_);
    lane.exhausted = true;
    --lane.workers;
    for (; merged_ < lanes_.size() && is_complete(lanes_[merged_]); ++merged_) {
      ExpectedCounts sums = std::move(lanes_[merged_].sums);
      if (merged_ == 0) {
        total_ = std::move(sums);
      } else {
        total_.add(sums);
      }
    }
    merging_.notify_all();
  }
  static bool is_complete(const Lane& lane) { return lane.exhausted && lane.workers == 0; }

  const Crew& crew_;
  std::deque<Lane> lanes_;
  // Guards all members below, and `workers`, `exhausted` of the lanes.
  std::mutex mutex_;
  std::condition_variable merging_;
  size_t merged_ = 0;  // lanes whose sums are in the total
  ExpectedCounts total_;
};

}  // namespace spmcompat
