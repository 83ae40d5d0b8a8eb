// Which nodes of a suffix tree are candidates for seeds, and how equally good ones rank: here the
// releases of the reference differ.
//
// All of them look at the inner nodes of a suffix tree, that is, at substrings that are followed
// by different symbols. Symbols are bytes, or characters.
//
// A tree of characters whose nodes are cut, at the ends of sentences and between words, gives
// one more kind of candidate: a substring that is always followed by the same cut. What it
// continues with until the text branches is a node; cut, that node yields the substring, and no
// node that yields it stands more often in the text.
//
// The nodes of the tree are numbered as a walk through the sorted suffixes leaves them. So a node
// comes before all that are greater, but behind those that it begins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

struct SeedTree {
  bool of_characters = false;       // symbols are characters, not bytes
  bool cut_nodes = false;           // nodes are cut between words
  bool ties_in_tree_order = false;  // of nodes, not by length in bytes, then by bytes

  // Where the longest common prefix of two texts, so many bytes long, ends.
  uint32_t node_depth(const char* text, uint32_t depth) const {
    while (of_characters && is_trail(text[depth])) --depth;
    return depth;
  }

  uint32_t symbol_at(const char* text) const {
    size_t length;
    // No character is longer, and the texts do not end in one.
    return of_characters ? decode_utf8(text, text + 4, &length) : static_cast<unsigned char>(*text);
  }

  // Whether nodes that contain the text and go on with the symbol are cut between the two.
  bool cuts(std::string_view text, uint32_t next, const PieceRule& rule) const {
    if (!cut_nodes) return false;
    size_t last = text.size() - 1;
    while (is_trail(text[last])) --last;
    size_t length;
    const char32_t left = decode_utf8(text.data() + last, text.data() + text.size(), &length);
    return next == 0 || rule.space_parts(left, next);
  }

  // Of a text's first eight bytes as a number: the one by which texts are ordered.
  uint64_t head(uint64_t bytes, size_t size) const {
    // In the order of the tree, the end of a text is greater than any byte.
    return ties_in_tree_order && size < 8 ? bytes | ~uint64_t{0} >> 8 * size : bytes;
  }
  bool heads_decide(size_t size, size_t other_size) const {
    return ties_in_tree_order || size == other_size;
  }

  // Of candidates with equal ranks.
  bool better_of_equals(std::string_view a, std::string_view b) const {
    if (ties_in_tree_order) {
      const int order = std::memcmp(a.data(), b.data(), std::min(a.size(), b.size()));
      return order != 0 ? order < 0 : a.size() > b.size();
    }
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  }
};

}  // namespace spmcompat
