// The pieces of the model in training, and a trie to find them in a text.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/containers/string_table.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

// Pieces in the order of their ids. The unknown piece that the lattice adds where
// no single character fits has the id size(), and the score unknown_score().
class Pieces {
 public:
  std::vector<float> score;

  uint32_t size() const { return static_cast<uint32_t>(score.size()); }
  std::string_view operator[](uint32_t id) const { return (*texts_)[text_ids_[id]]; }

  void reserve(size_t pieces, size_t bytes) {
    make_texts();
    texts_->bytes.reserve(bytes);
    texts_->end.reserve(pieces);
    text_ids_.reserve(pieces);
    score.reserve(pieces);
  }
  void add(std::string_view piece, float piece_score) {
    make_texts();
    text_ids_.push_back(static_cast<uint32_t>(texts_->end.size()));
    texts_->bytes.append(piece);
    texts_->end.push_back(static_cast<uint32_t>(texts_->bytes.size()));
    score.push_back(piece_score);
  }

  float min_score() const {
    float lowest = std::numeric_limits<float>::max();
    for (const float s : score) lowest = std::min(lowest, s);
    return lowest;
  }
  float unknown_score() const { return min_score() - 10.0f; }

  // The pieces kept, in the order given, with their scores. Their texts are not copied.
  Pieces select(const std::vector<uint32_t>& kept) const {
    Pieces result;
    result.texts_ = texts_;
    result.text_ids_.reserve(kept.size());
    result.score.reserve(kept.size());
    for (const uint32_t id : kept) {
      result.text_ids_.push_back(text_ids_[id]);
      result.score.push_back(score[id]);
    }
    return result;
  }

 private:
  // Of all pieces that there have ever been, one behind the other.
  struct Texts {
    std::string bytes;
    std::vector<uint32_t> end;

    std::string_view operator[](uint32_t id) const {
      const uint32_t begin = id == 0 ? 0 : end[id - 1];
      return std::string_view(bytes.data() + begin, end[id] - begin);
    }
  };

  void make_texts() {
    if (texts_ == nullptr) texts_ = std::make_shared<Texts>();
  }

  // Made when it is needed: Cython cannot catch what the construction of its objects throws.
  std::shared_ptr<Texts> texts_;
  std::vector<uint32_t> text_ids_;
};

// Scores that are counts become log probabilities. Their sum and its logarithm are taken in double
// or in float.
template <typename Sum = double>
void to_log_probabilities(std::vector<float>& score) {
  Sum sum = 0;
  for (const float s : score) sum += s;
  const Sum log_sum = static_cast<Sum>(std::log(static_cast<double>(sum)));
  for (float& s : score) s = static_cast<float>(std::log(static_cast<double>(s)) - log_sum);
}

inline std::string piece_text(const Pieces& pieces, uint32_t id) {
  return std::string(pieces[id]);
}

inline void append_characters(std::string_view text, std::vector<char32_t>& characters) {
  const char* end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    size_t length;
    characters.push_back(decode_utf8(p, end, &length));
    p += length;
  }
}

inline void decode_text(std::string_view text, std::vector<char32_t>& characters) {
  characters.clear();
  append_characters(text, characters);
}

// A trie over characters: its edges are one hash table of (node, character) -> node, and the node
// of a piece has the id of the piece. A step from node to node reads from anywhere in a large
// table, so many steps are taken side by side: what all of them will read is fetched before the
// first one reads it.
class PieceTrie {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  explicit PieceTrie(const Pieces& pieces) : PieceTrie(pieces, 0, 1, nullptr) {}

  // Of the pieces those that fall to one of several parts by their first character; the number of
  // parts is a power of two, 64 at most. Writes to `prefixes` of each of them the longest other
  // piece that it begins with.
  PieceTrie(const Pieces& pieces, uint32_t part, uint32_t parts, std::vector<uint32_t>* prefixes)
      : part_(part), parts_(parts), pieces_(pieces.size()), nodes_(pieces_ + 1) {
    // Shorter pieces come first, so the node of a piece is there before longer ones pass it.
    const std::vector<uint32_t> ids = by_size(pieces);
    reserve(1024 + ids.size() + ids.size() / 4);
    std::vector<Walk> walks;
    for (size_t i = 0; i < ids.size();) {
      for (; i < ids.size() && walks.size() < kTogether; ++i) {
        const std::string_view piece = pieces[ids[i]];
        walks.push_back({root(), ids[i], piece.data(), piece.data() + piece.size()});
      }
      while (!walks.empty()) add_edges(walks, prefixes);
    }
  }

  // Calls function(length in characters, id) for every piece that begins the text, shortest first.
  template <typename Function>
  void for_each_prefix(const char32_t* text, size_t length, Function function) const {
    uint32_t node = root();
    for (size_t i = 0; i < length; ++i) {
      node = follow(node, text[i]);
      if (node == kNone) return;
      if (is_piece(node)) function(i + 1, node);
    }
  }

  // A place of a text, where the longest piece that begins there shall be written, and the node
  // that was reached.
  struct Place {
    const char* at;
    const char* end;  // of the text
    uint32_t* longest;
    uint32_t node;
  };
  Place place(const char* at, const char* end, uint32_t* longest) const {
    return {at, end, longest, root()};
  }

  // Writes the longest pieces, where there are any. There are kTogether places at most, in
  // well-formed texts; the list is empty afterwards.
  void find_longest(std::vector<Place>& places) const {
    std::array<char32_t, kTogether> characters;
    while (!places.empty()) {
      for (size_t i = 0; i < places.size(); ++i) {
        places[i].at += read_utf8(places[i].at, &characters[i]);
        fetch(places[i].node, characters[i]);
      }
      size_t left = 0;
      for (size_t i = 0; i < places.size(); ++i) {
        Place place = places[i];
        place.node = follow(place.node, characters[i]);
        if (place.node == kNone) continue;
        if (is_piece(place.node)) *place.longest = place.node;
        places[left] = place;
        left += place.at != place.end;
      }
      places.resize(left);
    }
  }

  // Calls function(place in the text, number of characters before it) for every character of a
  // well-formed text that pieces of the part may begin with. Eight bytes may be read behind the
  // text, through which it goes eight bytes at a time: the low bits of a character are those of its
  // last byte, which is the one that no byte continues.
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

  static constexpr uint32_t kTogether = 128;  // walks through the trie that are done side by side

 private:
  struct Edge {
    uint32_t from = 0;
    char32_t character = 0;
    uint32_t to = kNone;  // nowhere: the edge is empty
  };
  struct Walk {
    uint32_t node, id;
    const char* at;
    const char* end;
  };

  uint32_t root() const { return pieces_; }
  bool is_piece(uint32_t node) const { return node < pieces_; }

  // The ids of the part by size in bytes.
  std::vector<uint32_t> by_size(const Pieces& pieces) const {
    const auto for_each_id = [&](auto function) {
      for (uint32_t id = 0; id < pieces.size(); ++id) {
        const std::string_view piece = pieces[id];
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

  size_t place_of(uint32_t node, char32_t c) const {
    return uint64_t(mix(uint64_t{node} << 21 | c)) * edges_.size() >> 32;
  }
  void fetch(uint32_t node, char32_t c) const { __builtin_prefetch(&edges_[place_of(node, c)]); }

  // The edge, or the empty place for it.
  const Edge& probe(uint32_t node, char32_t c) const {
    size_t i = place_of(node, c);
    while (edges_[i].to != kNone && (edges_[i].from != node || edges_[i].character != c)) {
      i = i + 1 < edges_.size() ? i + 1 : 0;
    }
    return edges_[i];
  }
  Edge& probe(uint32_t node, char32_t c) {
    return const_cast<Edge&>(static_cast<const PieceTrie*>(this)->probe(node, c));
  }
  uint32_t follow(uint32_t node, char32_t c) const { return probe(node, c).to; }

  // Goes one character further in all texts; those that end leave the list.
  void add_edges(std::vector<Walk>& walks, std::vector<uint32_t>* prefixes) {
    reserve(used_ + walks.size());
    std::array<char32_t, kTogether> characters;
    for (size_t i = 0; i < walks.size(); ++i) {
      size_t size;
      characters[i] = decode_utf8(walks[i].at, walks[i].end, &size);
      walks[i].at += size;
      fetch(walks[i].node, characters[i]);
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

  // Makes room for so many edges.
  void reserve(size_t edges) {
    if (edges * 4 <= edges_.size() * 3) return;
    std::vector<Edge> old(std::max(edges * 4 / 3 + 1, edges_.size() * 5 / 4));
    old.swap(edges_);
    for (const Edge& edge : old) {
      if (edge.to != kNone) probe(edge.from, edge.character) = edge;
    }
  }

  uint32_t part_, parts_;
  uint32_t pieces_;  // of all parts
  uint32_t nodes_;  // their number, the root among them
  std::vector<Edge> edges_;
  size_t used_ = 0;  // edges
};

}  // namespace spmcompat
