// How BPE of sentencepiece up to 0.2.2 cuts a word after its rare characters were replaced.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

struct WordRule {
  PieceRule pieces;
  std::string delimiter;  // of the pre-tokenization; none if empty
  size_t longest = 0;     // places of a word that can be counted, if not 0
};

// Puts a boundary mark in the place of every delimiter.
inline void mark_delimiters(std::string& word, const WordRule& rule) {
  if (rule.delimiter.empty()) return;
  for (size_t at = 0; (at = word.find(rule.delimiter, at)) != std::string::npos; ++at) {
    word.replace(at, rule.delimiter.size(), 1, static_cast<char>(rule.pieces.boundary));
  }
}

// Whether two neighbours that may be a piece stand where places cannot be counted.
inline bool is_too_long(std::string_view word, const WordRule& rule) {
  if (rule.longest == 0 || word.size() <= rule.longest) return false;
  char32_t pair[2] = {0, 0};
  size_t place = 0;
  bool found = false;
  for_each_character(word, [&](char32_t c) {
    pair[0] = pair[1];
    pair[1] = c;
    found |= place++ >= rule.longest && rule.pieces.allows(pair, 2);
  });
  return found;
}

// Calls function(part) for the parts of a word between which no piece can lie across.
template <typename Function>
void for_each_part(std::string word, const WordRule& rule, Function function) {
  mark_delimiters(word, rule);
  if (is_too_long(word, rule)) throw std::length_error("a word is too long");
  const char* end = word.data() + word.size();
  const char* head = word.data();
  char32_t left = 0;
  for (const char* p = head; p < end;) {
    size_t size;
    const char32_t right = decode_utf8(p, end, &size);
    if (p > head && rule.pieces.parts(left, right)) {
      function(std::string_view(head, p - head));
      head = p;
    }
    left = right;
    p += size;
  }
  if (head < end) function(std::string_view(head, end - head));
}

}  // namespace spmcompat
