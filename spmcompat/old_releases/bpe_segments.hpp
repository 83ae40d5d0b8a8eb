// Cuts pretokens as BPE of sentencepiece up to 0.2.2 does, after rare characters are replaced.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "spmcompat/pretokenization/cuts.hpp"
#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

// Whether the pretoken has a pair of neighbouring characters that may form a piece, and the second
// of them is at position bpe_longest_pretoken (counted from 0) or later.
inline bool is_too_long(std::string_view pretoken, const PieceRule& rule) {
  if (rule.bpe_longest_pretoken == 0 || pretoken.size() <= rule.bpe_longest_pretoken) return false;
  char32_t pair[2] = {0, 0};
  size_t position = 0;
  bool found = false;
  for_each_character(pretoken, [&](char32_t c) {
    pair[0] = pair[1];
    pair[1] = c;
    found |= position++ >= rule.bpe_longest_pretoken && rule.allows(pair, 2);
  });
  return found;
}

// Calls function(segment) for every segment of a pretoken.
template <typename Function>
void for_each_bpe_segment(std::string pretoken, const PieceRule& rule, Function function) {
  std::string scratch;
  mark_delimiters(pretoken, rule.bpe_delimiter, rule.boundary, scratch);
  if (is_too_long(pretoken, rule)) throw std::overflow_error("a pretoken is too long");
  for_each_segment(pretoken, rule, [&](std::string_view segment, char32_t) { function(segment); });
}

}  // namespace spmcompat
