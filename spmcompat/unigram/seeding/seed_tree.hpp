// Differences between the releases of the reference in the nodes of their suffix tree: which nodes
// are candidates for seeds, and the order of candidates with equal scores.
//
// All releases use the inner nodes of a suffix tree, that is, substrings that different symbols
// follow. A symbol is a byte, or a character before 0.2.3.
//
// Release 0.2.2 cuts its nodes at the ends of sentences and between pretokens. This gives one more
// kind of candidate: a substring that is always followed by a cut. It comes from the most frequent
// node that begins with it and continues after the cut.
//
// Before 0.2.2, candidates with equal scores are in the order in which a walk through the sorted
// suffixes leaves their nodes: the order of their bytes, but a node comes after all nodes that
// begin with it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

struct SeedTree {
  bool of_characters = false;       // symbols are characters, not bytes
  bool cut_nodes = false;           // nodes are cut between pretokens
  bool ties_in_tree_order = false;  // otherwise: by descending size in bytes, then by bytes

  // The depth at which two texts branch. `depth` is the size in bytes of their common prefix, which
  // may end inside of a character.
  uint32_t node_depth(const char* text, uint32_t depth) const {
    while (of_characters && is_trail(text[depth])) --depth;
    return depth;
  }

  uint32_t symbol_at(const char* text) const {
    size_t length;
    // The longest characters have four bytes. No text ends inside of a character.
    return of_characters ? decode_utf8(text, text + 4, &length) : static_cast<unsigned char>(*text);
  }

  // Whether a node is cut between a text, with which it begins, and the next symbol.
  bool cuts(std::string_view text, uint32_t next, const PieceRule& rule) const {
    if (!cut_nodes) return false;
    size_t last = text.size() - 1;
    while (is_trail(text[last])) --last;
    size_t length;
    const char32_t left = decode_utf8(text.data() + last, text.data() + text.size(), &length);
    return next == 0 || rule.space_parts(left, next);
  }

  // The number by which texts are compared first, from their text_key.
  uint64_t head(uint64_t bytes, size_t size) const {
    // In the order of the tree, the end of a text is greater than any byte.
    return ties_in_tree_order && size < 8 ? bytes | ~uint64_t{0} >> 8 * size : bytes;
  }
  // Whether different heads determine the order of two texts of these sizes.
  bool heads_decide(size_t size, size_t other_size) const {
    return ties_in_tree_order || size == other_size;
  }

  // Whether the first of two candidates with equal scores ranks before the second.
  bool better_of_equals(std::string_view a, std::string_view b) const {
    if (ties_in_tree_order) {
      const int order = std::memcmp(a.data(), b.data(), std::min(a.size(), b.size()));
      return order != 0 ? order < 0 : a.size() > b.size();
    }
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  }
};

}  // namespace spmcompat
