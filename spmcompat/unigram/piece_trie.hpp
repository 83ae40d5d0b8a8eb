// A trie that finds pieces in a text.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "spmcompat/containers/hash.hpp"
#include "spmcompat/unicode/utf8.hpp"
#include "spmcompat/unigram/pieces.hpp"

namespace spmcompat {

// A trie over characters. One hash table maps (node, character) to the next node; the node of a
// piece has the id of the piece. Each step of a walk reads a random slot of this large table.
// Therefore, the walks are interleaved: the slots of many walks are prefetched before the first
// walk reads its slot. The table is not an OpenTable, because it grows by a quarter instead of
// doubling.
class PieceTrie {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;
  // The low bits of the last byte of a piece's first character determine the part of the piece. A
  // trail byte stores only six bits of a character, so there are at most 2^6 parts.
  static constexpr uint32_t kMostParts = 64;

  explicit PieceTrie(const Pieces& pieces) : PieceTrie(pieces, 0, 1, nullptr) {}

  // Builds the trie of one part of the pieces. The part of a piece is its first character modulo
  // the number of parts; empty pieces belong to no part. The number of parts is a power of two, at
  // most kMostParts. If `prefixes` is not null, stores there, for each piece of the part, the id of
  // the longest other piece that is a prefix of it. If there is no such prefix, the item of the
  // piece is left unchanged.
  PieceTrie(const Pieces& pieces, uint32_t part, uint32_t parts, std::vector<uint32_t>* prefixes)
      : part_(part), parts_(parts), pieces_(pieces.size()), nodes_(pieces_ + 1) {
    // Shorter pieces come first, so that the node of a piece exists before longer pieces need it.
    const std::vector<uint32_t> ids = ids_by_size(pieces);
    reserve(1024 + ids.size() + ids.size() / 4);
    std::vector<Walk> walks;
    for (size_t i = 0; i < ids.size();) {
      for (; i < ids.size() && walks.size() < kInterleaved; ++i) {
        const std::string_view piece = pieces[ids[i]];
        walks.push_back({root(), ids[i], piece.data(), piece.data() + piece.size()});
      }
      while (!walks.empty()) add_edges(walks, prefixes);
    }
  }

  // Calls function(length in characters, id) for every piece that is a prefix of the text, the
  // shortest first.
  template <typename Function>
  void for_each_prefix(const char32_t* text, size_t length, Function function) const {
    uint32_t node = root();
    for (size_t i = 0; i < length; ++i) {
      node = follow(node, text[i]);
      if (node == kNone) return;
      if (is_piece(node)) function(i + 1, node);
    }
  }

  // A walk along a text that looks for the longest piece that the text begins with.
  struct Lookup {
    const char* at;
    const char* end;
    uint32_t* longest;  // where to write the result, if a piece is found
    uint32_t node;      // the node that the walk has reached
  };
  Lookup lookup(const char* text, const char* end, uint32_t* longest) const {
    return {text, end, longest, root()};
  }

  // Completes all lookups, and empties the list. Takes at most kInterleaved lookups. The texts to
  // look up must be well-formed UTF-8.
  void find_longest(std::vector<Lookup>& lookups) const {
    std::array<char32_t, kInterleaved> characters;
    while (!lookups.empty()) {
      for (size_t i = 0; i < lookups.size(); ++i) {
        lookups[i].at += read_utf8(lookups[i].at, &characters[i]);
        prefetch(lookups[i].node, characters[i]);
      }
      size_t left = 0;
      for (size_t i = 0; i < lookups.size(); ++i) {
        Lookup lookup = lookups[i];
        lookup.node = follow(lookup.node, characters[i]);
        if (lookup.node == kNone) continue;
        if (is_piece(lookup.node)) *lookup.longest = lookup.node;
        lookups[left] = lookup;
        left += lookup.at != lookup.end;
      }
      lookups.resize(left);
    }
  }

  // Finds the characters of a well-formed text with which a piece of this part may begin. Calls
  // function(pointer to the character, number of characters before it) for each of them.
  //
  // Processes eight bytes at a time, and reads up to eight bytes past the end. The part of a
  // character is given by its low bits, which are also the low bits of its last byte. A byte is the
  // last byte of a character if the next byte begins another character.
  template <typename Function>
  void for_each_of_part(std::string_view text, Function function) const {
    constexpr uint64_t kOnes = 0x0101010101010101, kHighBits = 0x80 * kOnes;
    const auto count = [](uint64_t high_bits) { return (high_bits >> 7) * kOnes >> 56; };
    size_t passed = 0;
    for (size_t i = 0; i < text.size(); i += 8) {
      const uint64_t bytes = load<uint64_t>(text.data() + i);
      const uint64_t next = load<uint64_t>(text.data() + i + 1);
      uint64_t lasts = ~(next & ~(next << 1)) & kHighBits;
      if (text.size() - i < 8) lasts &= ~uint64_t{0} >> 8 * (8 - (text.size() - i));
      const uint64_t others = (bytes ^ part_ * kOnes) & (parts_ - 1) * kOnes;
      uint64_t found = lasts & ~(others + 0x7f * kOnes);
      for (; found != 0; found &= found - 1) {
        const char* at = text.data() + i + __builtin_ctzll(found) / 8;
        while (is_trail(*at)) --at;
        function(at, passed + count(lasts & (found - 1) & ~found));
      }
      passed += count(lasts);
    }
  }

  static constexpr uint32_t kInterleaved = 128;  // the number of walks that advance together

 private:
  struct Edge {
    uint32_t from = 0;
    char32_t character = 0;
    uint32_t to = kNone;  // the node that the edge leads to; kNone if the slot is empty
  };
  struct Walk {
    uint32_t node, id;
    const char* at;
    const char* end;
  };

  uint32_t root() const { return pieces_; }
  bool is_piece(uint32_t node) const { return node < pieces_; }

  // The ids of the pieces that belong to `part_`, sorted by size in bytes with a counting sort.
  std::vector<uint32_t> ids_by_size(const Pieces& pieces) const {
    const auto for_each_id = [&](auto function) {
      for (uint32_t id = 0; id < pieces.size(); ++id) {
        const std::string_view piece = pieces[id];
        if (piece.empty()) continue;  // an empty piece matches nothing
        size_t size;
        const char32_t first = decode_utf8(piece.data(), piece.data() + piece.size(), &size);
        if (first % parts_ == part_) function(id, piece.size());
      }
    };
    std::vector<uint32_t> begin(2);
    for_each_id([&](uint32_t, size_t size) {
      if (size + 2 > begin.size()) begin.resize(size + 2);
      ++begin[size + 1];
    });
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<uint32_t> ids(begin.back());
    for_each_id([&](uint32_t id, size_t size) { ids[begin[size]++] = id; });
    return ids;
  }

  size_t slot_of(uint32_t node, char32_t c) const {
    return uint64_t(mix(uint64_t{node} << 21 | c)) * edges_.size() >> 32;
  }
  void prefetch(uint32_t node, char32_t c) const { __builtin_prefetch(&edges_[slot_of(node, c)]); }

  // Returns the edge from a node along a character, or the empty slot where this edge belongs.
  const Edge& probe(uint32_t node, char32_t c) const {
    size_t i = slot_of(node, c);
    while (edges_[i].to != kNone && (edges_[i].from != node || edges_[i].character != c)) {
      i = i + 1 < edges_.size() ? i + 1 : 0;
    }
    return edges_[i];
  }
  Edge& probe(uint32_t node, char32_t c) {
    return const_cast<Edge&>(static_cast<const PieceTrie*>(this)->probe(node, c));
  }
  uint32_t follow(uint32_t node, char32_t c) const { return probe(node, c).to; }

  // Advances all walks by one character, and adds missing edges. Removes the walks that end.
  void add_edges(std::vector<Walk>& walks, std::vector<uint32_t>* prefixes) {
    reserve(used_ + walks.size());
    std::array<char32_t, kInterleaved> characters;
    for (size_t i = 0; i < walks.size(); ++i) {
      size_t size;
      characters[i] = decode_utf8(walks[i].at, walks[i].end, &size);
      walks[i].at += size;
      prefetch(walks[i].node, characters[i]);
    }
    size_t left = 0;
    for (size_t i = 0; i < walks.size(); ++i) {
      Walk& walk = walks[i];
      const bool ends = walk.at == walk.end;
      Edge& edge = probe(walk.node, characters[i]);
      if (edge.to == kNone) {
        edge = {walk.node, characters[i], ends ? walk.id : nodes_++};
        ++used_;
      }
      if (ends) continue;
      walk.node = edge.to;
      if (is_piece(walk.node) && prefixes != nullptr) (*prefixes)[walk.id] = walk.node;
      walks[left++] = walk;
    }
    walks.resize(left);
  }

  // Reserves space for a number of edges, with a load of at most 3/4.
  void reserve(size_t edges) {
    if (edges * 4 <= edges_.size() * 3) return;
    std::vector<Edge> old(std::max(edges * 4 / 3 + 1, edges_.size() * 5 / 4));
    old.swap(edges_);
    for (const Edge& edge : old) {
      if (edge.to != kNone) probe(edge.from, edge.character) = edge;
    }
  }

  uint32_t part_, parts_;
  uint32_t pieces_;  // the number of pieces of all parts together
  uint32_t nodes_;   // the id of the next new node; the root has the id `pieces_`
  std::vector<Edge> edges_;
  size_t used_ = 0;  // the number of edges
};

}  // namespace spmcompat
