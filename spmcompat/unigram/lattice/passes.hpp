// Functions for all passes over lattices. A pass processes one group of pretokens at a time. A
// group has enough lattices to fill the lanes, but few enough to stay in the processor's caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spmcompat/unigram/lattice/lattice.hpp"
#include "spmcompat/unigram/lattice/log_math.hpp"
#include "spmcompat/unigram/lattice/prefix_links.hpp"
#include "spmcompat/unigram/lattice/processors.hpp"

namespace spmcompat {

// A group is full if it has more positions than this.
constexpr size_t kGroupPositions = 1 << 14;

// Grows a vector to at least `size` items, and returns its data. The old items do not change.
template <typename T>
T* grow(std::vector<T>& values, size_t size) {
  if (values.size() < size) values.resize(size);
  return values.data();
}

// Copies the first node at each position of a lattice, and sets the flag kFirstAtPosition in the
// copy. Prefetches the pieces of these nodes, because count_nodes reads them next, and they are
// scattered in memory.
inline void copy_first_nodes(const LatticeView& view, const PrefixLinks& links, uint32_t* copies) {
  for (uint32_t i = 0; i < view.length; ++i) {
    __builtin_prefetch(&links[view.first_nodes[i]]);
    copies[i] = view.first_nodes[i] | kFirstAtPosition;
  }
}

// Returns the number of all nodes at `length` positions, given the first node at each position.
inline uint32_t count_nodes(const PrefixLinks& links, const uint32_t* first_nodes, size_t length) {
  uint32_t size = 0;
  for (size_t i = 0; i < length; ++i) size += links[piece_of(first_nodes[i])].node_count;
  return size;
}

}  // namespace spmcompat
