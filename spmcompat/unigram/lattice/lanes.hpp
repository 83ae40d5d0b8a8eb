// Runs a pass over many lattices at once, each in a lane of the vector kernels.
//
// The sums are kept per position, not per node: all nodes that begin at a position share their
// alpha, and all nodes that end there share their beta. The forward pass adds a node's term to the
// alpha of the position where the node ends. There, terms of nodes that begin earlier are added
// earlier, as in the reference. The backward pass adds a node's term to the beta of the position
// where the node begins. There, terms are added from the shortest node to the longest, also as in
// the reference.
//
// Each addition in a lane has to wait for the addition before it. Therefore, many lanes advance
// together: four lanes fill a vector, and while one vector waits, the processor works on others.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/unigram/lattice/processors.hpp"

namespace spmcompat {

// The nodes of one lattice.
struct NodeList {
  uint32_t* nodes;           // the forward pass writes this list, the backward pass reads it
  uint32_t size;             // the number of nodes
  size_t begin;              // the index of the first position in the arrays of the pass
  size_t length;             // the number of positions
  size_t log_marginal = 0;   // index of the log marginal of the first node
  float log_likelihood = 0;  // the log likelihood of the pretoken
};

// Runs a pass over lists of nodes. Lists of similar size run together, so that few lanes are idle
// while others still work.
template <typename Pass>
class LaneRunner {
 public:
  LaneRunner(const Arithmetic& arithmetic, const Crew& crew)
      : avx2_(arithmetic.avx2), crew_(crew) {}

  void run(const std::vector<NodeList>& lists, const PassArrays& arrays) {
    if (lists.empty()) return;
    sort_by_size(lists);
    idle_nodes_.assign(sorted_[0]->size, arrays.neutral);
    for (size_t i = 0; i < sorted_.size(); i += kWidth) {
      run_together(sorted_.data() + i, std::min(kWidth, sorted_.size() - i), arrays);
    }
  }

 private:
  static constexpr size_t kWidth = Pass::kWidth;
  static constexpr size_t kUnchecked = 1 << 17;  // nodes between two checks for Ctrl-C
  static constexpr bool kBackward = std::is_same_v<Pass, BackwardPass>;

  void run_together(const NodeList* const* lists, size_t running, const PassArrays& arrays) {
    LaneStates<Pass> states;
    for (size_t i = 0; i < kWidth; ++i) {
      if (i < running) {
        start(states, i, *lists[i], arrays);
      } else {
        set_idle(states, i, arrays);
      }
    }
    for (size_t done = 0; running > 0;) {
      const size_t end = std::min<size_t>(lists[running - 1]->size, done + kUnchecked);
      crew_.check_cancelled();
      if (avx2_) {
        avx2::advance(arrays, states, done, end);
      } else {
        any_processor::advance(arrays, states, done, end);
      }
      done = end;
      for (; running > 0 && lists[running - 1]->size == done; --running) {
        set_idle(states, running - 1, arrays);
      }
    }
  }

  static void start(LaneStates<Pass>& states, size_t i, const NodeList& list,
                    const PassArrays& arrays) {
    if constexpr (kBackward) {
      const size_t last = list.size - 1;
      states.nodes[i] = list.nodes + last;
      states.position[i] = list.begin + list.length - 1;
      states.log_marginal[i] = arrays.log_marginal + list.log_marginal + last;
      states.log_likelihood[i] = list.log_likelihood;
    } else {
      states.nodes[i] = list.nodes;
      states.position[i] = list.begin;
      states.node[i] = arrays.first_nodes[list.begin];
    }
  }

  // Makes a lane idle: from now on, it processes the neutral node in scratch memory.
  void set_idle(LaneStates<Pass>& states, size_t i, const PassArrays& arrays) {
    states.position[i] = 0;
    if constexpr (kBackward) {
      states.nodes[i] = &idle_nodes_.back();
      states.log_marginal[i] =
          arrays.log_marginal + arrays.idle_log_marginal + idle_nodes_.size() - 1;
      states.log_likelihood[i] = 0.0f;
    } else {
      states.nodes[i] = idle_nodes_.data();
      states.node[i] = arrays.neutral;
    }
  }

  // Fills `sorted_` with the lists, the longest first. Uses a counting sort. Only the few lists of
  // kCounted nodes or more are sorted by comparison.
  void sort_by_size(const std::vector<NodeList>& lists) {
    std::array<uint32_t, kCounted + 2> begin{};
    for (const NodeList& list : lists) ++begin[bucket_of(list) + 1];
    for (size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
    const size_t very_long = begin[1];
    sorted_.resize(lists.size());
    for (const NodeList& list : lists) sorted_[begin[bucket_of(list)]++] = &list;
    std::sort(sorted_.begin(), sorted_.begin() + very_long,
              [](const NodeList* a, const NodeList* b) { return a->size > b->size; });
  }
  static size_t bucket_of(const NodeList& list) {
    return kCounted - std::min<size_t>(list.size, kCounted);
  }

  static constexpr size_t kCounted = 255;
  bool avx2_;
  const Crew& crew_;
  std::vector<const NodeList*> sorted_;
  std::vector<uint32_t> idle_nodes_;
};

}  // namespace spmcompat
