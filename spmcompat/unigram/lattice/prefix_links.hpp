// The pieces that begin at a position of a text.
//
// They are the longest of them and all pieces that it begins with itself. So the longest tells
// them all, and a lattice keeps one number a position instead of one a node: each piece leads to
// the longest other one that it begins with, down to the shortest.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "spmcompat/unigram/pieces.hpp"

namespace spmcompat {

constexpr uint32_t kDropped = 0xffffffffu;

// What the lattices ask of a piece, in one place of the memory.
struct ChainNode {
  float score;
  uint32_t length;  // in characters
  uint32_t prefix;  // the next node of the chain, or kChainEnd
  uint32_t size;    // number of nodes of the chain from here on
};

constexpr uint32_t kChainEnd = PieceTrie::kNone;

// Whether the chain has no further node, as a number.
inline uint32_t ends_chain(const ChainNode& node) { return node.prefix >> 31; }

// The nodes have the ids of their pieces. Behind the pieces stand the unknown piece, a node that
// changes no sum, and the unknown piece once more for each chain without a piece of one character:
// it leads to the chain and is the begin of the position's nodes there.
class PieceChains {
 public:
  PieceChains() = default;
  // Every piece is given its chain by `set`; then all chains are counted.
  explicit PieceChains(const Pieces& pieces) : unknown_(pieces.size()), nodes_(unknown_ + 2) {
    nodes_[unknown_] = {0.0f, 1, kChainEnd, 1};
    nodes_[no_op()] = {-std::numeric_limits<float>::infinity(), 0, no_op(), 1};
    rescore(pieces);
  }

  void set(uint32_t id, uint32_t length, uint32_t prefix) {
    nodes_[id].length = length;
    nodes_[id].prefix = prefix;
  }
  // Counts the nodes of the chains of [first, last), and returns those of them that have no piece
  // of one character.
  std::vector<uint32_t> count(uint32_t first, uint32_t last) {
    std::vector<uint32_t> lack_unknown;
    for (uint32_t id = first; id < last; ++id) {
      uint32_t size = 1;
      uint32_t shortest = id;
      for (; !ends_chain(nodes_[shortest]); ++size) shortest = nodes_[shortest].prefix;
      nodes_[id].size = size;
      if (nodes_[shortest].length > 1) lack_unknown.push_back(id);
    }
    return lack_unknown;
  }
  // Puts the unknown piece before the chain of a piece.
  void add_unknown(uint32_t id) {
    if (tops_.empty()) {
      tops_.resize(unknown_ + 1);
      std::iota(tops_.begin(), tops_.end(), 0);
    }
    tops_[id] = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back({nodes_[unknown_].score, 1, id, nodes_[id].size + 1});
  }

  // Goes over to other scores of the same pieces.
  void rescore(const Pieces& pieces) {
    for (uint32_t id = 0; id < unknown_; ++id) nodes_[id].score = pieces.score[id];
    const float unknown_score = pieces.unknown_score();
    nodes_[unknown_].score = unknown_score;
    for (size_t id = no_op() + 1; id < nodes_.size(); ++id) nodes_[id].score = unknown_score;
  }

  const ChainNode& operator[](uint32_t id) const { return nodes_[id]; }
  const ChainNode* data() const { return nodes_.data(); }
  uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }

  uint32_t pieces() const { return unknown_; }  // their number
  // Of a position where no piece begins.
  uint32_t unknown() const { return unknown_; }
  uint32_t no_op() const { return unknown_ + 1; }
  bool is_unknown(uint32_t id) const { return id >= unknown_; }
  bool finite() const { return std::isfinite(nodes_[unknown_].score); }
  uint32_t longest() const {
    uint32_t longest = 1;
    for (uint32_t id = 0; id < unknown_; ++id) longest = std::max(longest, nodes_[id].length);
    return longest;
  }

  // The first of a position's nodes, by its longest piece or the unknown one; empty where it is
  // always that itself.
  const std::vector<uint32_t>& tops() const { return tops_; }
  uint32_t top(uint32_t piece) const { return tops_.empty() ? piece : tops_[piece]; }

  // Calls function(id, node) for the nodes of a position, the longest piece first; the unknown
  // piece comes before it.
  template <typename Function>
  void for_each(uint32_t first, Function function) const {
    for (uint32_t id = first; id != kChainEnd; id = nodes_[id].prefix) function(id, nodes_[id]);
  }

 private:
  uint32_t unknown_ = 0;
  std::vector<ChainNode> nodes_;
  std::vector<uint32_t> tops_;
};

// The chains of the pieces that stay, found for several parts of the old nodes at a time. They are
// still to be counted.
class KeptChains {
 public:
  // `new_ids` ends with that of the unknown piece.
  KeptChains(const PieceChains& old, const std::vector<uint32_t>& new_ids, const Pieces& pieces)
      : old_(old), new_ids_(new_ids), chains_(pieces), tops_(old.size(), new_ids.back()) {}

  // Of the old nodes [first, last), where there are so many.
  void find(uint32_t first, uint32_t last) {
    for (uint32_t id = first; id < std::min(last, old_.size()); ++id) {
      if (id == old_.no_op()) continue;
      const uint32_t longest = next_kept(old_.is_unknown(id) ? old_[id].prefix : id);
      if (longest == kChainEnd) continue;
      tops_[id] = new_ids_[longest];
      if (longest != id) continue;
      const uint32_t prefix = next_kept(old_[id].prefix);
      chains_.set(tops_[id], old_[id].length, prefix == kChainEnd ? kChainEnd : new_ids_[prefix]);
    }
  }

  // They can be taken once.
  PieceChains take_chains() { return std::move(chains_); }
  // For every old node, as the first of a position, the longest piece there or the unknown one.
  std::vector<uint32_t> take_tops() { return std::move(tops_); }

 private:
  uint32_t next_kept(uint32_t id) const {
    while (id != kChainEnd && new_ids_[id] == kDropped) id = old_[id].prefix;
    return id;
  }

  const PieceChains& old_;
  const std::vector<uint32_t>& new_ids_;
  PieceChains chains_;
  std::vector<uint32_t> tops_;
};

}  // namespace spmcompat
