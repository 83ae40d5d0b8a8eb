// The pieces of the model in training, and a trie to find them in a text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
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

// A trie over characters: its edges are one hash table of (node, character) -> node.
class PieceTrie {
 public:
  explicit PieceTrie(const Pieces& pieces) {
    edges_.resize(1024);
    std::vector<char32_t> characters;
    for (uint32_t id = 0; id < pieces.size(); ++id) {
      decode_text(pieces[id], characters);
      uint32_t node = 0;
      for (const char32_t c : characters) node = add_edge(node, c);
      piece_[node] = id;
    }
  }

  // Calls function(length in characters, id) for every piece that begins the text, shortest first.
  template <typename Function>
  void for_each_prefix(const char32_t* text, size_t length, Function function) const {
    uint32_t node = 0;
    for (size_t i = 0; i < length; ++i) {
      node = follow(node, text[i]);
      if (node == 0) return;
      if (piece_[node] != kNoPiece) function(i + 1, piece_[node]);
    }
  }

 private:
  static constexpr uint32_t kNoPiece = 0xffffffffu;
  struct Edge {
    uint64_t key = 0;  // 0: empty; the root is no target and NUL no character of a piece
    uint32_t node = 0;
  };
  static uint64_t key_of(uint32_t node, char32_t c) { return (uint64_t(node) << 21) | c; }

  uint32_t follow(uint32_t node, char32_t c) const {
    const uint64_t key = key_of(node, c);
    for (size_t i = mix(key) & (edges_.size() - 1);; i = (i + 1) & (edges_.size() - 1)) {
      if (edges_[i].key == key) return edges_[i].node;
      if (edges_[i].key == 0) return 0;
    }
  }

  uint32_t add_edge(uint32_t node, char32_t c) {
    if (piece_.size() * 3 > edges_.size() * 2) grow();
    Edge& edge = probe(key_of(node, c));
    if (edge.key == 0) {
      edge.key = key_of(node, c);
      edge.node = static_cast<uint32_t>(piece_.size());
      piece_.push_back(kNoPiece);
    }
    return edge.node;
  }
  Edge& probe(uint64_t key) {
    size_t i = mix(key) & (edges_.size() - 1);
    while (edges_[i].key != 0 && edges_[i].key != key) i = (i + 1) & (edges_.size() - 1);
    return edges_[i];
  }
  void grow() {
    std::vector<Edge> old(edges_.size() * 2);
    old.swap(edges_);
    for (const Edge& edge : old) {
      if (edge.key != 0) probe(edge.key) = edge;
    }
  }

  std::vector<Edge> edges_;
  std::vector<uint32_t> piece_{kNoPiece};  // node -> piece
};

}  // namespace spmcompat
