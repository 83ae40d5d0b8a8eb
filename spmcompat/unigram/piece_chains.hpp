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
#include <vector>

#include "pieces.hpp"

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
  // `prefixes` tells of each piece the longest other one that it begins with, or PieceTrie::kNone.
  PieceChains(const std::vector<uint32_t>& prefixes, const Pieces& pieces) {
    lay_out(pieces);
    for (uint32_t id = 0; id < unknown_; ++id) {
      nodes_[id].length = static_cast<uint32_t>(count_chars(pieces[id]));
      nodes_[id].prefix = prefixes[id];
    }
    finish();
  }

  // Of the pieces that stay: `kept` gives for each old node the longest piece of its chain.
  PieceChains(const PieceChains& old, const std::vector<uint32_t>& new_ids,
              const std::vector<uint32_t>& kept, const Pieces& pieces) {
    lay_out(pieces);
    for (uint32_t id = 0; id < old.unknown_; ++id) {
      if (new_ids[id] == kDropped) continue;
      ChainNode& node = nodes_[new_ids[id]];
      node.length = old[id].length;
      node.prefix = ends_chain(old[id]) ? kChainEnd : kept[old[id].prefix];
      if (node.prefix == unknown_) node.prefix = kChainEnd;
    }
    finish();
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

  // Of each node the longest piece of its chain that stays, by its new id, or the new unknown
  // piece. `new_ids` ends with that.
  std::vector<uint32_t> longest_kept(const std::vector<uint32_t>& new_ids) const {
    std::vector<uint32_t> kept(nodes_.size(), new_ids.back());
    for (uint32_t id = 0; id < nodes_.size(); ++id) {
      if (id == no_op()) continue;
      uint32_t piece = id < unknown_ ? id : nodes_[id].prefix;
      while (piece != kChainEnd && new_ids[piece] == kDropped) piece = nodes_[piece].prefix;
      if (piece != kChainEnd) kept[id] = new_ids[piece];
    }
    return kept;
  }

 private:
  void lay_out(const Pieces& pieces) {
    unknown_ = pieces.size();
    nodes_.resize(unknown_ + 2);
    nodes_[unknown_] = {0.0f, 1, kChainEnd, 1};
    nodes_[no_op()] = {-std::numeric_limits<float>::infinity(), 0, no_op(), 1};
    rescore(pieces);
  }

  // Counts the nodes, and puts the unknown piece before chains that need it.
  void finish() {
    for (uint32_t id = 0; id < unknown_; ++id) {
      uint32_t size = 1;
      uint32_t shortest = id;
      for (; !ends_chain(nodes_[shortest]); ++size) shortest = nodes_[shortest].prefix;
      nodes_[id].size = size;
      if (nodes_[shortest].length > 1) add_unknown(id);
    }
  }
  void add_unknown(uint32_t id) {
    if (tops_.empty()) {
      tops_.resize(unknown_ + 1);
      for (uint32_t piece = 0; piece <= unknown_; ++piece) tops_[piece] = piece;
    }
    tops_[id] = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back({nodes_[unknown_].score, 1, id, nodes_[id].size + 1});
  }

  uint32_t unknown_ = 0;
  std::vector<ChainNode> nodes_;
  std::vector<uint32_t> tops_;
};

}  // namespace spmcompat
