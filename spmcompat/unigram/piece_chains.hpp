// The pieces that begin at a position of a text.
//
// They are the longest of them and all pieces that it begins with itself. So the longest tells
// them all, and a lattice keeps one number a position instead of one a node.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "pieces.hpp"

namespace spmcompat {

constexpr uint32_t kDropped = 0xffffffffu;

// A node is the id of its piece and a mark on the last node of a position.
constexpr uint32_t kLastAtPosition = 0x80000000u;

inline uint32_t piece_of(uint32_t node) { return node & ~kLastAtPosition; }
inline bool is_last(uint32_t node) { return node & kLastAtPosition; }

class PieceChains {
 public:
  PieceChains() = default;
  // `prefixes` tells of each piece the longest other one that it begins with, or
  // PieceTrie::kNone; `pieces` are those that node_pieces gives.
  PieceChains(const std::vector<uint32_t>& prefixes, const std::vector<NodePiece>& pieces)
      : unknown_(static_cast<uint32_t>(prefixes.size())),
        place_(prefixes.size() + 1),
        size_(prefixes.size() + 1) {
    nodes_.reserve(kStep + note_sizes(prefixes, pieces));
    nodes_.assign(kStep, unknown_);
    for (uint32_t piece = 0; piece < unknown_; ++piece) {
      if (place_[piece] == kLeaf) add_chain(piece, prefixes);
    }
    place_[unknown_] = kStep - 1;
  }

  // Of a position where no piece begins.
  uint32_t unknown() const { return unknown_; }

  // Number of nodes of a position, by its longest piece.
  uint32_t size(uint32_t longest) const { return size_[longest] & ~kWithUnknown; }

  // Calls function(piece) for the nodes of a position, the longest piece first; the unknown
  // piece comes before it.
  template <typename Function>
  void for_each(uint32_t longest, Function function) const {
    if (size_[longest] & kWithUnknown) function(unknown_);
    const uint32_t* at = nodes_.data() + place_[longest];
    for (const uint32_t* end = at - chain_size(longest); at > end; --at) function(*at);
  }

  // So many nodes are written over, and put back, in front of those that expand writes.
  static constexpr size_t kStep = 8;

  // Writes the nodes of positions, `size` in all.
  void expand(const uint32_t* longest, size_t positions, uint32_t* nodes, size_t size) const {
    uint32_t before[kStep];
    std::memcpy(before, nodes - kStep, sizeof before);
    uint32_t* end = nodes + size;
    for (size_t i = 0; i < positions; ++i) {
      const uint32_t piece = longest[i];
      uint32_t* const begin = end - this->size(piece);
      uint32_t* to = end;
      if (size_[piece] & kWithUnknown) *--to = unknown_;
      const uint32_t* from = nodes_.data() + place_[piece] + 1;
      do {  // Many at a time: how many there are would be a guess.
        from -= kStep;
        to -= kStep;
        std::memcpy(to, from, kStep * sizeof *to);
      } while (to > begin);
      end[-1] |= kLastAtPosition;
      end = begin;
    }
    std::memcpy(nodes - kStep, before, sizeof before);
  }

  // Of each piece, and of the unknown one, the longest of its chain that stays, by its new id, or
  // the new unknown piece. `new_ids` ends with that.
  std::vector<uint32_t> longest_kept(const std::vector<uint32_t>& new_ids) const {
    std::vector<uint32_t> kept(unknown_ + 1, new_ids.back());
    for (uint32_t piece = 0; piece < unknown_; ++piece) {
      const uint32_t* at = nodes_.data() + place_[piece];
      const uint32_t* const end = at - chain_size(piece);
      while (at > end && new_ids[*at] == kDropped) --at;
      if (at > end) kept[piece] = new_ids[*at];
    }
    return kept;
  }

  // The prefixes of the pieces that stay, by their new ids.
  std::vector<uint32_t> kept_prefixes(const std::vector<uint32_t>& new_ids,
                                      const std::vector<uint32_t>& longest_kept) const {
    std::vector<uint32_t> prefixes(new_ids.back(), PieceTrie::kNone);
    for (uint32_t piece = 0; piece < unknown_; ++piece) {
      if (new_ids[piece] == kDropped || chain_size(piece) == 1) continue;
      const uint32_t prefix = longest_kept[nodes_[place_[piece] - 1]];
      if (prefix != new_ids.back()) prefixes[new_ids[piece]] = prefix;
    }
    return prefixes;
  }

 private:
  static constexpr uint16_t kWithUnknown = 0x8000;  // no piece of the chain is one character
  static constexpr uint32_t kLeaf = 0, kInner = 1;  // places of pieces that have none yet

  uint32_t chain_size(uint32_t piece) const {
    return size(piece) - (size_[piece] & kWithUnknown ? 1 : 0);
  }

  // Marks leaves and inner pieces, and returns how many nodes the chains of the leaves have.
  size_t note_sizes(const std::vector<uint32_t>& prefixes, const std::vector<NodePiece>& pieces) {
    for (const uint32_t prefix : prefixes) {
      if (prefix != PieceTrie::kNone) place_[prefix] = kInner;
    }
    size_t nodes = 0;
    for (uint32_t piece = 0; piece < unknown_; ++piece) {
      uint16_t size = 1;
      uint32_t shortest = piece;
      for (; prefixes[shortest] != PieceTrie::kNone; ++size) shortest = prefixes[shortest];
      if (place_[piece] == kLeaf) nodes += size;
      size_[piece] = pieces[shortest].length == 1 ? size : (size + 1) | kWithUnknown;
    }
    size_[unknown_] = 1;
    return nodes;
  }

  void add_chain(uint32_t leaf, const std::vector<uint32_t>& prefixes) {
    nodes_.resize(nodes_.size() + chain_size(leaf));
    uint32_t place = static_cast<uint32_t>(nodes_.size() - 1);
    for (uint32_t piece = leaf; piece != PieceTrie::kNone; piece = prefixes[piece]) {
      nodes_[place] = piece;
      if (place_[piece] <= kInner) place_[piece] = place;
      --place;
    }
  }

  uint32_t unknown_ = 0;
  // Chains from the shortest piece to the longest, of all pieces that no other one begins with.
  std::vector<uint32_t> nodes_;
  std::vector<uint32_t> place_;  // of each piece in any of the chains
  std::vector<uint16_t> size_;   // number of nodes, and kWithUnknown
};

}  // namespace spmcompat
