// The pieces of the model in training, and a trie to find them in a text.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "string_table.hpp"
#include "utf8.hpp"

namespace spmcompat {

// Pieces in the order of their ids. The unknown piece that the lattice adds where
// no single character fits has the id size(), and the score unknown_score().
struct Pieces {
  std::string text;
  std::vector<uint32_t> begin{0};
  std::vector<float> score;

  uint32_t size() const { return static_cast<uint32_t>(score.size()); }
  std::string_view operator[](uint32_t id) const {
    return std::string_view(text).substr(begin[id], begin[id + 1] - begin[id]);
  }
  void add(std::string_view piece, float piece_score) {
    text.append(piece);
    begin.push_back(static_cast<uint32_t>(text.size()));
    score.push_back(piece_score);
  }
  float min_score() const {
    float lowest = std::numeric_limits<float>::max();
    for (const float s : score) lowest = std::min(lowest, s);
    return lowest;
  }
  float unknown_score() const { return min_score() - 10.0f; }

  // The pieces kept, in the order given, with their scores.
  Pieces select(const std::vector<uint32_t>& kept) const {
    Pieces result;
    for (const uint32_t id : kept) result.add((*this)[id], score[id]);
    return result;
  }
};

// What the lattices ask of a piece, in one place of the memory.
struct NodePiece {
  float score;
  uint32_t length;  // in characters
};

// Of all pieces by id, of the unknown piece, and of one that changes no sum.
inline std::vector<NodePiece> node_pieces(const Pieces& pieces) {
  std::vector<NodePiece> result;
  result.reserve(pieces.size() + 2);
  for (uint32_t id = 0; id < pieces.size(); ++id) {
    result.push_back({pieces.score[id], static_cast<uint32_t>(count_chars(pieces[id]))});
  }
  result.push_back({pieces.unknown_score(), 1});
  result.push_back({-std::numeric_limits<float>::infinity(), 0});
  return result;
}

inline std::string piece_text(const Pieces& pieces, uint32_t id) {
  return std::string(pieces[id]);
}

inline void decode_text(std::string_view text, std::vector<char32_t>& characters) {
  characters.clear();
  const char* end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    size_t length;
    characters.push_back(decode_utf8(p, end, &length));
    p += length;
  }
}

// A trie over characters: its edges are one hash table of (node, character) -> node. A step from
// node to node reads from anywhere in a large table, so many steps are taken side by side: what
// all of them will read is fetched before the first one reads it.
class PieceTrie {
 public:
  explicit PieceTrie(const Pieces& pieces) {
    reserve(1024 + pieces.size() + pieces.size() / 4);
    std::vector<Walk> walks;
    for (uint32_t first = 0; first < pieces.size(); first += kTogether) {
      const uint32_t last = std::min(first + kTogether, pieces.size());
      for (uint32_t id = first; id < last; ++id) {
        walks.push_back({0, id, pieces.text.data() + pieces.begin[id],
                         pieces.text.data() + pieces.begin[id + 1]});
      }
      while (!walks.empty()) add_edges(walks);
    }
  }

  // Calls function(length in characters, id) for every piece that begins the text, shortest first.
  template <typename Function>
  void for_each_prefix(const char32_t* text, size_t length, Function function) const {
    uint32_t node = 0;
    for (size_t i = 0; i < length; ++i) {
      const Edge* edge = follow(key_of(node, text[i]));
      if (edge == nullptr) return;
      if (edge->piece != kNoPiece) function(i + 1, edge->piece);
      node = edge->node;
    }
  }

  // Calls function(place - first, length in characters, id) for all pieces that begin in the text
  // at the places [first, last), all shorter ones before all longer ones.
  template <typename Function>
  void for_each_piece(const char32_t* text, size_t length, size_t first, size_t last,
                      std::vector<std::pair<uint32_t, uint32_t>>& walks, Function function) const {
    walks.clear();
    for (size_t place = first; place < last; ++place) {
      walks.push_back({static_cast<uint32_t>(place - first), 0});
    }
    for (size_t depth = 0; !walks.empty(); ++depth) {
      const char32_t* at = text + first + depth;
      while (first + walks.back().first + depth >= length) {
        walks.pop_back();
        if (walks.empty()) return;
      }
      for (const auto& [place, node] : walks) fetch(key_of(node, at[place]));
      size_t left = 0;
      for (const auto& [place, node] : walks) {
        const Edge* edge = follow(key_of(node, at[place]));
        if (edge == nullptr) continue;
        if (edge->piece != kNoPiece) function(place, depth + 1, edge->piece);
        walks[left++] = {place, edge->node};
      }
      walks.resize(left);
    }
  }

 private:
  static constexpr uint32_t kTogether = 64;
  static constexpr uint32_t kNoPiece = 0xffffffffu;
  struct Edge {
    uint64_t key = 0;  // 0: empty; the root is no target and NUL no character of a piece
    uint32_t node = 0;
    uint32_t piece = kNoPiece;
  };
  struct Walk {
    uint32_t node, id;
    const char* at;
    const char* end;
  };
  static uint64_t key_of(uint32_t node, char32_t c) { return (uint64_t(node) << 21) | c; }

  size_t place_of(uint64_t key) const { return uint64_t(mix(key)) * edges_.size() >> 32; }
  void fetch(uint64_t key) const { __builtin_prefetch(&edges_[place_of(key)]); }

  // The edge with the key, or the empty place for it.
  const Edge& probe(uint64_t key) const {
    size_t i = place_of(key);
    while (edges_[i].key != 0 && edges_[i].key != key) i = i + 1 < edges_.size() ? i + 1 : 0;
    return edges_[i];
  }
  Edge& probe(uint64_t key) {
    return const_cast<Edge&>(static_cast<const PieceTrie*>(this)->probe(key));
  }
  const Edge* follow(uint64_t key) const {
    const Edge& edge = probe(key);
    return edge.key == 0 ? nullptr : &edge;
  }

  // Goes one character further in all texts; those that end leave the list.
  void add_edges(std::vector<Walk>& walks) {
    reserve(nodes_ + walks.size());
    std::array<uint64_t, kTogether> keys;
    for (size_t i = 0; i < walks.size(); ++i) {
      size_t size;
      keys[i] = key_of(walks[i].node, decode_utf8(walks[i].at, walks[i].end, &size));
      walks[i].at += size;
      fetch(keys[i]);
    }
    size_t left = 0;
    for (size_t i = 0; i < walks.size(); ++i) {
      Edge& edge = probe(keys[i]);
      if (edge.key == 0) edge = {keys[i], nodes_++, kNoPiece};
      if (walks[i].at == walks[i].end) {
        if (edge.piece == kNoPiece) edge.piece = walks[i].id;  // of equal ones the first
      } else {
        walks[left] = walks[i];
        walks[left++].node = edge.node;
      }
    }
    walks.resize(left);
  }

  // Makes room for so many nodes.
  void reserve(size_t nodes) {
    if (nodes * 4 <= edges_.size() * 3) return;
    std::vector<Edge> old(std::max(nodes * 4 / 3 + 1, edges_.size() * 5 / 4));
    old.swap(edges_);
    for (const Edge& edge : old) {
      if (edge.key != 0) probe(edge.key) = edge;
    }
  }

  std::vector<Edge> edges_;
  uint32_t nodes_ = 1;
};

}  // namespace spmcompat
