// Prefix links: all pieces that match at a position of a text, from the longest one alone.
//
// Every shorter piece that matches at a position is a prefix of the longest one. So each piece
// links to the longest other piece that it begins with, down to the shortest, and a lattice keeps
// one number for each position, the longest match, instead of a list of nodes.
//
// Links are made in this order, each step a type of its own:
//   1. NewLinks: every piece gets its link, from a trie (builder.hpp) or from old links
//      (KeptLinks).
//   2. NewLinks::count, for all parts: how many nodes follow each piece along the links.
//   3. NewLinks::finish: the PrefixLinks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "spmcompat/unigram/piece_trie.hpp"
#include "spmcompat/unigram/pieces.hpp"

namespace spmcompat {

// The new id of a piece that is dropped.
constexpr uint32_t kDropped = 0xffffffffu;

constexpr uint32_t kNoPrefix = PieceTrie::kNone;

// Everything that a pass over lattices needs to know about a piece, in 16 bytes.
struct LinkedPiece {
  float score;
  uint32_t length;      // in characters
  uint32_t prefix;      // the longest other piece that it begins with, or kNoPrefix
  uint32_t node_count;  // of this piece and all to which its links lead
};

// 1 for the shortest piece of a position, else 0. It is a number, so that code can add it instead
// of branching.
inline uint32_t is_shortest(const LinkedPiece& piece) { return piece.prefix >> 31; }

// The links of all nodes. The node of a piece has the id of the piece. The next ids are those of
// the unknown piece, the neutral node, and more unknown pieces: one for each piece whose links lead
// to no piece of a single character. At a position where such a piece is the longest match, its
// unknown piece is the first node and links to it.
class PrefixLinks {
 public:
  PrefixLinks() = default;

  // Takes new scores for the same pieces.
  void rescore(const Pieces& pieces) {
    for (uint32_t id = 0; id < unknown_; ++id) nodes_[id].score = pieces.score[id];
    const float unknown_score = pieces.unknown_score();
    nodes_[unknown_].score = unknown_score;
    for (size_t id = neutral() + 1; id < nodes_.size(); ++id) nodes_[id].score = unknown_score;
  }

  const LinkedPiece& operator[](uint32_t id) const { return nodes_[id]; }
  const LinkedPiece* data() const { return nodes_.data(); }
  uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }

  uint32_t pieces() const { return unknown_; }  // their number
  // The only node of a position where no piece matches.
  uint32_t unknown() const { return unknown_; }
  // A node that changes no sum and links to itself.
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
  friend class NewLinks;

  explicit PrefixLinks(const Pieces& pieces) : unknown_(pieces.size()), nodes_(unknown_ + 2) {
    nodes_[unknown_] = {0.0f, 1, kNoPrefix, 1};
    nodes_[neutral()] = {-std::numeric_limits<float>::infinity(), 0, neutral(), 1};
    rescore(pieces);
  }

  uint32_t unknown_ = 0;
  std::vector<LinkedPiece> nodes_;
};

// Builds the links, in these steps:
//   1. set for every piece.
//   2. count for all parts.
//   3. finish.
class NewLinks {
 public:
  NewLinks() = default;
  explicit NewLinks(const Pieces& pieces) : links_(pieces), without_character_(parts()) {}

  void set(uint32_t id, uint32_t length, uint32_t prefix) {
    links_.nodes_[id].length = length;
    links_.nodes_[id].prefix = prefix;
  }

  uint32_t parts() const { return (links_.size() + kPartSize - 1) / kPartSize; }

  // Counts the nodes to which the links of each piece of the part lead. Notes the pieces whose
  // links lead to no piece of a single character.
  void count(uint32_t part) {
    std::vector<LinkedPiece>& nodes = links_.nodes_;
    const uint32_t last = std::min((part + 1) * kPartSize, links_.pieces());
    for (uint32_t id = part * kPartSize; id < last; ++id) {
      uint32_t node_count = 1;
      uint32_t shortest = id;
      for (; !is_shortest(nodes[shortest]); ++node_count) shortest = nodes[shortest].prefix;
      nodes[id].node_count = node_count;
      if (nodes[shortest].length > 1) without_character_[part].push_back(id);
    }
  }

  // Returns the finished links. Changes `first_nodes` into a map from what the lattices hold at a
  // position to its first node. An empty map means that they hold the first nodes already.
  PrefixLinks finish(std::vector<uint32_t>& first_nodes) {
    const std::vector<uint32_t> after_unknown = add_unknown_pieces();
    if (first_nodes.empty()) {
      first_nodes = after_unknown;
    } else if (!after_unknown.empty()) {
      for (uint32_t& node : first_nodes) node = after_unknown[node];
    }
    return std::move(links_);
  }

 private:
  friend class KeptLinks;
  static constexpr uint32_t kPartSize = 1 << 14;  // nodes

  // Returns a map from the longest match to the first node. It is empty if both are always the
  // same.
  std::vector<uint32_t> add_unknown_pieces() {
    std::vector<LinkedPiece>& nodes = links_.nodes_;
    std::vector<uint32_t> first_nodes;
    for (const std::vector<uint32_t>& ids : without_character_) {
      for (const uint32_t id : ids) {
        if (first_nodes.empty()) {
          first_nodes.resize(links_.unknown() + 1);
          std::iota(first_nodes.begin(), first_nodes.end(), 0);
        }
        first_nodes[id] = static_cast<uint32_t>(nodes.size());
        nodes.push_back({nodes[links_.unknown()].score, 1, id, nodes[id].node_count + 1});
      }
    }
    std::vector<std::vector<uint32_t>>().swap(without_character_);
    return first_nodes;
  }

  PrefixLinks links_;
  std::vector<std::vector<uint32_t>> without_character_;  // pieces, by part
};

// Makes the links of the pieces that stay from the old links. First keep is called for all parts of
// the old nodes. Then each result can be taken once.
class KeptLinks {
 public:
  // See Lattices::keep_links.
  KeptLinks(PrefixLinks old, const std::vector<uint32_t>& new_ids, const Pieces& pieces)
      : old_(std::move(old)),
        new_ids_(new_ids),
        links_(pieces),
        longest_matches_(old_.size(), new_ids.back()) {}

  uint32_t parts() const { return (old_.size() + NewLinks::kPartSize - 1) / NewLinks::kPartSize; }

  void keep(uint32_t part) {
    const uint32_t last = std::min((part + 1) * NewLinks::kPartSize, old_.size());
    for (uint32_t id = part * NewLinks::kPartSize; id < last; ++id) {
      if (id == old_.neutral()) continue;
      const uint32_t longest = first_kept(old_.is_unknown(id) ? old_[id].prefix : id);
      if (longest == kNoPrefix) continue;
      longest_matches_[id] = new_ids_[longest];
      if (longest != id) continue;
      const uint32_t prefix = first_kept(old_[id].prefix);
      links_.set(longest_matches_[id], old_[id].length,
                 prefix == kNoPrefix ? kNoPrefix : new_ids_[prefix]);
    }
  }

  NewLinks take_links() { return std::move(links_); }
  // A map from every old first node to the new longest match, or to the unknown piece.
  std::vector<uint32_t> take_longest_matches() { return std::move(longest_matches_); }

 private:
  uint32_t first_kept(uint32_t id) const {
    while (id != kNoPrefix && new_ids_[id] == kDropped) id = old_[id].prefix;
    return id;
  }

  PrefixLinks old_;
  const std::vector<uint32_t>& new_ids_;
  NewLinks links_;
  std::vector<uint32_t> longest_matches_;
};

}  // namespace spmcompat
