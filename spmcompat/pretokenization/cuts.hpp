// Cuts a text into pretokens, segments or other slices.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/unicode/marks.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

// Cuts a text wherever cut(left, right) is true for two neighbouring characters. Calls
// function(slice, next) for each slice. `next` is the character after the slice, or 0 after the
// last slice.
template <typename Cut, typename Function>
void for_each_slice(std::string_view text, Cut cut, Function function) {
  const char* const end = text.data() + text.size();
  const char* head = text.data();
  char32_t left = 0;
  for (const char* at = head; at < end;) {
    size_t size;
    const char32_t right = decode_utf8(at, end, &size);
    if (at > head && cut(left, right)) {
      function(std::string_view(head, at - head), right);
      head = at;
    }
    left = right;
    at += size;
  }
  if (head < end) function(std::string_view(head, end - head), char32_t{0});
}

// Replaces every delimiter with a boundary mark. Does nothing if the delimiter is empty. Uses
// `scratch` as temporary memory.
inline void mark_delimiters(std::string& text, const std::string& delimiter, char32_t boundary,
                            std::string& scratch) {
  if (delimiter.empty()) return;
  scratch.clear();
  size_t begin = 0;
  for (size_t at; (at = text.find(delimiter, begin)) != std::string::npos;) {
    scratch.append(text, begin, at - begin);
    scratch.push_back(static_cast<char>(boundary));
    begin = at + delimiter.size();
  }
  scratch.append(text, begin, std::string::npos);
  text.swap(scratch);
}

// Calls function(pretoken, opens) for every pretoken of a sentence. With `spaces_apart`, space
// marks are skipped. With `boundaries_end_pretokens`, boundary marks are skipped, too. `opens` is
// true for the first pretoken of the sentence, and for the first pretoken after a skipped boundary
// mark.
template <typename Function>
void for_each_pretoken(std::string_view text, const PieceRule& rule, Function function) {
  const auto cut_at_spaces = [&](std::string_view part) {
    bool opens = true;
    for_each_slice(
        part, [&rule](char32_t left, char32_t right) { return rule.space_parts(left, right); },
        [&](std::string_view pretoken, char32_t) {
          if (rule.spaces_apart && pretoken == kSpaceUtf8) return;
          function(pretoken, opens);
          opens = false;
        });
  };
  if (!rule.boundaries_end_pretokens) return cut_at_spaces(text);
  const char mark = static_cast<char>(rule.boundary);
  for (size_t end; (end = text.find(mark)) != std::string_view::npos;) {
    cut_at_spaces(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  cut_at_spaces(text);
}

// Calls function(segment, next) for every segment of a pretoken. `next` is the character after the
// segment, or 0 after the last segment.
template <typename Function>
void for_each_segment(std::string_view pretoken, const PieceRule& rule, Function function) {
  for_each_slice(
      pretoken, [&rule](char32_t left, char32_t right) { return rule.parts(left, right); },
      function);
}

// Calls function(segment) for every segment of at least two characters. The text is also cut before
// and after every character that is not required, so no segment contains such a character.
template <typename Function>
void for_each_long_segment(std::string_view text, const PieceRule& rule,
                           const std::vector<bool>& required, Function function) {
  if (text.empty()) return;
  size_t size;
  bool kept = required[decode_utf8(text.data(), text.data() + text.size(), &size)];
  const auto cut = [&](char32_t left, char32_t right) {
    const bool was_kept = kept;
    kept = required[right];
    return !was_kept || !kept || rule.parts(left, right);
  };
  for_each_slice(text, cut, [&](std::string_view segment, char32_t) {
    if (segment.size() > char_size(segment[0])) function(segment);
  });
}

// Whether all characters of a text are required.
inline bool contains_only(std::string_view text, const std::vector<bool>& required) {
  bool all = true;
  for_each_character(text, [&](char32_t c) { all &= required[c]; });
  return all;
}

// Copies the text to `covered`, with the unknown mark in place of every character that is not
// required. If all characters are required, returns false without changing `covered`.
inline bool cover_text(std::string_view text, const std::vector<bool>& required,
                       std::string& covered) {
  if (contains_only(text, required)) return false;
  covered.clear();
  for_each_character(text,
                     [&](char32_t c) { append_utf8(required[c] ? c : kUnknownMark, covered); });
  return true;
}

inline std::vector<bool> required_characters(const std::vector<char32_t>& alphabet) {
  std::vector<bool> required(kCodePoints);
  for (const char32_t c : alphabet) required[c] = true;
  return required;
}

}  // namespace spmcompat
