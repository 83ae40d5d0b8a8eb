// Prefix links: they lead from the longest piece that matches at a position to all other matches.
//
// Every shorter piece that matches at a position is a prefix of the longest one. So each piece
// links to the longest other piece that it begins with, and following these links from the longest
// match visits all matches, down to the shortest. A lattice stores only the longest match of each
// position, instead of a list of nodes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/unicode/utf8.hpp"
#include "spmcompat/unigram/piece_trie.hpp"
#include "spmcompat/unigram/pieces.hpp"

namespace spmcompat {

// A node is stored as the id of its piece. The first node of a position is the one from which links
// lead to all other nodes of the position. In lists of nodes and in the arrays that
// copy_first_nodes writes, each first node also has this bit set.
constexpr uint32_t kFirstAtPosition = 0x80000000u;

inline uint32_t piece_of(uint32_t node) { return node & ~kFirstAtPosition; }
inline uint32_t is_first(uint32_t node) { return node >> 31; }

constexpr uint32_t kNoPrefix = PieceTrie::kNone;

// The data of a piece that passes over lattices need, in 16 bytes.
struct LinkedPiece {
  float score;
  uint32_t length;      // the number of characters in the piece
  uint32_t prefix;      // the longest other piece that this piece begins with, or kNoPrefix
  uint32_t node_count;  // the number of nodes on the chain of links from this piece
};

// 1 for the shortest piece of a position, otherwise 0. It is a number, so that code can add it
// instead of branching.
inline uint32_t is_shortest(const LinkedPiece& piece) { return piece.prefix >> 31; }

// The links of all nodes. The node of a piece has the id of the piece. The ids after these are:
// - unknown(): the only node of a position where no piece matches.
// - neutral(): the node of idle lanes.
// - More unknown pieces, one for each piece whose links do not lead to a piece of a single
//   character. Where such a piece is the longest match, the unknown piece is a node, too: it is the
//   first node of the position, and links to the longest match.
class PrefixLinks {
 public:
  PrefixLinks() = default;

  // `prefixes` contains, for each piece, the longest other piece that it begins with, or kNoPrefix.
  // Writes to `first_nodes` a map from the longest match of a position to the first node of the
  // position. The map is empty if the longest match is always the first node.
  PrefixLinks(const Pieces& pieces, const std::vector<uint32_t>& prefixes,
              std::vector<uint32_t>& first_nodes, Crew& crew)
      : PrefixLinks(pieces) {
    for (uint32_t id = 0; id < unknown_; ++id) {
      nodes_[id].length = static_cast<uint32_t>(count_chars(pieces[id]));
      nodes_[id].prefix = prefixes[id];
    }
    first_nodes = complete(crew);
  }

  // Removes the dropped pieces. Returns a map from old first nodes to new first nodes.
  std::vector<uint32_t> keep(const Pieces& pieces, const std::vector<uint32_t>& new_ids,
                             Crew& crew) {
    std::vector<uint32_t> first_nodes(size(), new_ids.back());
    PrefixLinks kept(pieces);
    const auto first_kept = [&](uint32_t id) {
      while (id != kNoPrefix && new_ids[id] == kDropped) id = nodes_[id].prefix;
      return id;
    };
    crew.for_each_range(size(), kRange, [&](size_t first, size_t last) {
      for (uint32_t id = first; id < last; ++id) {
        if (id == neutral()) continue;
        const uint32_t longest = first_kept(is_unknown(id) ? nodes_[id].prefix : id);
        if (longest == kNoPrefix) continue;
        first_nodes[id] = new_ids[longest];
        if (longest != id) continue;
        const uint32_t prefix = first_kept(nodes_[id].prefix);
        LinkedPiece& piece = kept.nodes_[new_ids[id]];
        piece.length = nodes_[id].length;
        piece.prefix = prefix == kNoPrefix ? kNoPrefix : new_ids[prefix];
      }
    });
    *this = std::move(kept);  // frees the old links before the new links grow
    const std::vector<uint32_t> after_unknown = complete(crew);
    if (!after_unknown.empty()) {
      for (uint32_t& node : first_nodes) node = after_unknown[node];
    }
    return first_nodes;
  }

  // Changes the scores of the pieces.
  void rescore(const Pieces& pieces) {
    for (uint32_t id = 0; id < unknown_; ++id) nodes_[id].score = pieces.score[id];
    const float unknown_score = pieces.unknown_score();
    nodes_[unknown_].score = unknown_score;
    for (size_t id = neutral() + 1; id < nodes_.size(); ++id) nodes_[id].score = unknown_score;
  }

  const LinkedPiece& operator[](uint32_t id) const { return nodes_[id]; }
  const LinkedPiece* data() const { return nodes_.data(); }
  uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }

  uint32_t pieces() const { return unknown_; }  // the number of pieces
  // The only node of a position where no piece matches.
  uint32_t unknown() const { return unknown_; }
  // A node that does not change any sum, and links to itself.
  uint32_t neutral() const { return unknown_ + 1; }
  bool is_unknown(uint32_t id) const { return id >= unknown_; }
  bool finite() const { return std::isfinite(nodes_[unknown_].score); }
  uint32_t max_length() const {
    uint32_t longest = 1;
    for (uint32_t id = 0; id < unknown_; ++id) longest = std::max(longest, nodes_[id].length);
    return longest;
  }

  // Calls function(id, piece) for the nodes of a position: the unknown piece, if it is a node
  // there, then the pieces from the longest to the shortest.
  template <typename Function>
  void for_each(uint32_t first_node, Function function) const {
    for (uint32_t id = first_node; id != kNoPrefix; id = nodes_[id].prefix) {
      function(id, nodes_[id]);
    }
  }

 private:
  static constexpr size_t kRange = 1 << 14;  // nodes that a worker takes at a time

  // Creates the nodes, but not yet the links of the pieces.
  explicit PrefixLinks(const Pieces& pieces) : unknown_(pieces.size()), nodes_(unknown_ + 2) {
    nodes_[unknown_] = {0.0f, 1, kNoPrefix, 1};
    nodes_[neutral()] = {-std::numeric_limits<float>::infinity(), 0, neutral(), 1};
    rescore(pieces);
  }

  // Counts the nodes to which the links of each piece lead. Adds an unknown piece for each piece
  // whose links do not lead to a piece of a single character. Returns the map from the longest
  // match of a position to the first node of the position, or an empty map if the longest match is
  // always the first node.
  std::vector<uint32_t> complete(Crew& crew) {
    std::vector<std::vector<uint32_t>> without_character((unknown_ + kRange - 1) / kRange);
    crew.for_each_range(unknown_, kRange, [&](size_t first, size_t last) {
      for (uint32_t id = first; id < last; ++id) {
        uint32_t node_count = 1;
        uint32_t shortest = id;
        for (; !is_shortest(nodes_[shortest]); ++node_count) shortest = nodes_[shortest].prefix;
        nodes_[id].node_count = node_count;
        if (nodes_[shortest].length > 1) without_character[first / kRange].push_back(id);
      }
    });
    std::vector<uint32_t> first_nodes;
    for (const std::vector<uint32_t>& ids : without_character) {
      for (const uint32_t id : ids) {
        if (first_nodes.empty()) {
          first_nodes.resize(unknown_ + 1);
          std::iota(first_nodes.begin(), first_nodes.end(), 0);
        }
        first_nodes[id] = static_cast<uint32_t>(nodes_.size());
        nodes_.push_back({nodes_[unknown_].score, 1, id, nodes_[id].node_count + 1});
      }
    }
    return first_nodes;
  }

  uint32_t unknown_ = 0;
  std::vector<LinkedPiece> nodes_;
};

}  // namespace spmcompat
