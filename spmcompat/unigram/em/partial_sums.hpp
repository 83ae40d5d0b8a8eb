// Partial sums determine the order in which the values of the pretokens are added up in float.
//
// Pretoken i is added to partial sum i mod n, and the n partial sums are added in their order, as
// the reference does with n threads. A worker takes the next pretokens of any partial sum and
// computes their contributions. Before it adds them, it waits until all earlier pretokens of that
// partial sum have been added. So the number of partial sums changes the bytes of a model, and the
// number of workers never does.
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

// The results of one pass over the corpus, for one partial sum or in total.
struct ExpectedCounts {
  std::vector<float> expected;          // the count of each piece; id 0 includes the unknown piece
  std::vector<NodePosition> positions;  // one position of each piece, if the pass finds positions
  float objective = 0.0f;
  double log_likelihood = 0.0;

  // Resizes the vectors first, because the vectors of a partial sum without pretokens are empty.
  void add(const ExpectedCounts& other) {
    expected.resize(std::max(expected.size(), other.expected.size()));
    positions.resize(std::max(positions.size(), other.positions.size()));
    for (size_t i = 0; i < other.expected.size(); ++i) expected[i] += other.expected[i];
    for (size_t i = 0; i < other.positions.size(); ++i) {
      if (!positions[i].known()) positions[i] = other.positions[i];
    }
    objective += other.objective;
    log_likelihood += other.log_likelihood;
  }
};

// Iterates over the pretokens of the partial sums from `first_sum` to `last_sum`: first all
// pretokens of the first partial sum, and so on. Prefetches the lattices of later pretokens.
class SummedPretokens {
 public:
  SummedPretokens(const Lattices& lattices, size_t first_sum, size_t last_sum, size_t partial_sums)
      : corpus_(lattices.corpus()),
        lattices_(lattices),
        pretoken_(first_sum),
        sum_(first_sum),
        last_sum_(last_sum),
        sums_(partial_sums) {}

  bool done() const { return pretoken_ >= corpus_.pretoken_count.size(); }
  void next() {
    pretoken_ += sums_;
    if (done() && sum_ < last_sum_) pretoken_ = ++sum_;
  }
  void prefetch() const {
    for_each_segment(pretoken_ + 8 * sums_, [&](uint32_t s) { lattices_.prefetch_begin(s); });
    for_each_segment(pretoken_ + 4 * sums_, [&](uint32_t s) { lattices_.prefetch_nodes(s); });
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
  size_t pretoken_, sum_, last_sum_, sums_;
};

// The partial sums of one pass over the corpus.
class PartialSums {
 public:
  // With `single_sum`, all pretokens are added to a single sum: first the pretokens of the first
  // partial sum, and so on.
  PartialSums(const Lattices& lattices, size_t partial_sums, bool single_sum, const Crew& crew)
      : crew_(crew) {
    const size_t sums = single_sum ? 1 : partial_sums;
    for (size_t i = 0; i < sums; ++i) {
      const size_t last = single_sum ? partial_sums - 1 : i;
      sums_.emplace_back(SummedPretokens(lattices, i, last, partial_sums), crew);
    }
  }

  // Does the work of one worker. For each group of pretokens:
  //   1. Calls pass.add(segments, size, count) for each pretoken of the group.
  //   2. Calls `find` of the pass, without a lock.
  //   3. Waits until all earlier groups of the partial sum have been added, and then calls
  //      add(pass, counts) with the counts of the partial sum.
  //   4. Calls pass.clear().
  template <typename Pass, typename Add>
  void work(Pass& pass, void (Pass::*find)(), Add add) {
    while (PartialSum* sum = join_sum()) {
      while (const std::optional<size_t> turn = fill(pass, *sum)) {
        (pass.*find)();
        sum->turns.take(*turn, [&] { add(pass, sum->counts); });
        pass.clear();
      }
      leave_sum(*sum);
    }
  }

  // Returns the total of all partial sums. Must be called once, when all workers have finished.
  ExpectedCounts take_total() { return std::move(total_); }

 private:
  struct PartialSum {
    PartialSum(SummedPretokens summed, const Crew& crew) : pretokens(summed), turns(crew) {}

    SummedPretokens pretokens;
    std::mutex filling;
    size_t filled_groups = 0;
    Turns turns;         // the order in which groups are added
    size_t workers = 0;  // the number of workers that have joined and have not left
    bool exhausted = false;
    ExpectedCounts counts;
  };

  // Chooses the partial sum that this worker joins: the first of those with the fewest workers.
  // Returns null if all partial sums are exhausted. Each unfinished partial sum needs memory for
  // the counts of all pieces. So there are never more unfinished partial sums than workers.
  PartialSum* join_sum() {
    PartialSum* sum = nullptr;
    size_t end = 0;
    std::unique_lock<std::mutex> lock(mutex_);
    crew_.wait(merging_, lock, [&] {
      end = std::min(merged_ + crew_.size(), sums_.size());
      for (size_t i = merged_; i < end; ++i) {
        if (sums_[i].exhausted) continue;
        if (sum == nullptr || sums_[i].workers < sum->workers) sum = &sums_[i];
      }
      return sum != nullptr || end == sums_.size();
    });
    if (sum != nullptr) ++sum->workers;
    return sum;
  }

  // Fills the pass with the next group of pretokens of the partial sum. Returns the index of this
  // group in the partial sum, or nothing if there are no more pretokens.
  template <typename Pass>
  std::optional<size_t> fill(Pass& pass, PartialSum& sum) {
    crew_.check_cancelled();
    const std::lock_guard<std::mutex> lock(sum.filling);
    SummedPretokens& pretokens = sum.pretokens;
    if (pretokens.done()) return {};
    for (; !pretokens.done() && !pass.full(); pretokens.next()) {
      pretokens.prefetch();
      pass.add(pretokens.segments(), pretokens.size(), pretokens.count());
    }
    return sum.filled_groups++;
  }

  // A partial sum is complete when its last worker leaves. Complete partial sums are added to the
  // total in their order.
  void leave_sum(PartialSum& sum) {
    const std::lock_guard<std::mutex> lock(mutex_);
    sum.exhausted = true;
    --sum.workers;
    for (; merged_ < sums_.size() && is_complete(sums_[merged_]); ++merged_) {
      ExpectedCounts counts = std::move(sums_[merged_].counts);
      if (merged_ == 0) {
        total_ = std::move(counts);
      } else {
        total_.add(counts);
      }
    }
    merging_.notify_all();
  }
  static bool is_complete(const PartialSum& sum) { return sum.exhausted && sum.workers == 0; }

  const Crew& crew_;
  std::deque<PartialSum> sums_;
  // Guards all members below, and the members `workers` and `exhausted` of the partial sums.
  std::mutex mutex_;
  std::condition_variable merging_;
  size_t merged_ = 0;  // the number of partial sums in the total
  ExpectedCounts total_;
};

}  // namespace spmcompat
