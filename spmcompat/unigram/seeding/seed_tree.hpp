// How the suffix trees of the releases differ: which nodes are candidates for seeds, and how
// candidates with equal scores are sorted.
//
// In all releases, the inner nodes of a suffix tree are candidates. The text of an inner node is a
// substring that is followed by at least two different symbols. A symbol is a byte; before 0.2.3,
// it is a character.
//
// Release 0.2.2 cuts the texts of its nodes at the ends of sentences and between pretokens. So
// there is one more kind of candidate: a substring that is always followed by such a cut. Its count
// is that of the most frequent node whose text begins with the substring and continues after the
// cut.
//
// Before 0.2.2, candidates with equal scores are sorted by their bytes, except that a node comes
// after all nodes whose texts begin with its text. This is the order in which a walk through the
// sorted suffixes leaves the nodes.
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
  bool of_characters = false;  // symbols are characters, not bytes
  bool cut_nodes = false;      // the text of a node is cut between pretokens
  // Whether candidates with equal scores are sorted in the order in which a walk leaves the nodes.
  // If not, they are sorted by descending size in bytes, then by bytes.
  bool ties_in_tree_order = false;

  // The depth in bytes of the node at which two texts branch. `depth` is the size in bytes of their
  // common prefix, which may end inside a character.
  uint32_t node_depth(const char* text, uint32_t depth) const {
    while (of_characters && is_trail(text[depth])) --depth;
    return depth;
  }

  uint32_t symbol_at(const char* text) const {
    size_t length;
    // The longest characters have four bytes. No text ends inside a character.
    return of_characters ? decode_utf8(text, text + 4, &length) : static_cast<unsigned char>(*text);
  }

  // Whether the text of a node that has the symbol `next` after `text` is cut between these two.
  bool cuts(std::string_view text, uint32_t next, const PieceRule& rule) const {
    if (!cut_nodes) return false;
    size_t last = text.size() - 1;
    while (is_trail(text[last])) --last;
    size_t length;
    const char32_t left = decode_utf8(text.data() + last, text.data() + text.size(), &length);
    return next == 0 || rule.space_parts(left, next);
  }

  // Converts the text_key of a text to the number by which texts are compared first.
  uint64_t head(uint64_t bytes, size_t size) const {
    // In the order of the tree, the end of a text is greater than any byte.
    return ties_in_tree_order && size < 8 ? bytes | ~uint64_t{0} >> 8 * size : bytes;
  }
  // Whether two texts of these sizes can be ordered by their heads alone, if the heads differ.
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
