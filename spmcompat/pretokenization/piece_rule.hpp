// Decides which strings may be pieces, and which pairs of neighbouring characters no piece can
// contain.
//
// `allows` is the rule of sentencepiece 0.2.3 for a valid piece. `parts` follows from this rule. If
// `parts` is true for two neighbouring characters, no valid piece contains both, so pretokens are
// cut between them into segments. `parts` may be false even if no valid piece contains both
// characters: an Inherited character takes the script of the character before it, and `parts` does
// not know that character if `left` is Inherited.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spmcompat/plan.hpp"
#include "spmcompat/unicode/marks.hpp"
#include "spmcompat/unicode/scripts.hpp"

namespace spmcompat {

struct PieceRule : CuttingPlan {
  PieceRule() : CuttingPlan() {}
  explicit PieceRule(const CuttingPlan& plan) : CuttingPlan(plan) {}

  bool allows(const char32_t* piece, size_t length) const {
    if (length == 0 || length > max_piece_length) return false;
    const bool only_spaces = allow_whitespace_only_pieces && all_spaces(piece, length);
    int before = kAnyScript;
    for (size_t i = 0; i < length; ++i) {
      const char32_t c = piece[i];
      if (c == kSpaceMark) {
        if (spaces_apart || (!only_spaces && !may_be_space(i, length))) return false;
        continue;
      }
      if (c == kUnknownMark || c == boundary || c == 0 || c == U' ') return false;
      if (split_digits && length > 1 && is_digit(c)) return false;
      int script = script_class(c);
      if (script == kScriptInherited) script = before;
      if (split_by_unicode_script && script != kAnyScript && before != kAnyScript &&
          script != before) {
        return false;
      }
      before = script;
    }
    return true;
  }

  bool parts(char32_t left, char32_t right) const {
    if (left == kUnknownMark || right == kUnknownMark) return true;
    if (left == kSpaceMark || right == kSpaceMark) return space_parts(left, right);
    if (split_digits && (is_digit(left) || is_digit(right))) return true;
    if (!split_by_unicode_script) return false;
    const int a = script_class(left);
    const int b = script_class(right);
    return a != b && is_definite(a) && is_definite(b);
  }

  // Whether a new pretoken begins between two characters, if `left` or `right` is a space mark.
  bool space_parts(char32_t left, char32_t right) const {
    if (spaces_apart) return left == kSpaceMark || right == kSpaceMark;
    if (!split_by_whitespace) return false;
    if (left == kSpaceMark && right == kSpaceMark) return !allow_whitespace_only_pieces;
    return whitespace_as_suffix ? left == kSpaceMark : right == kSpaceMark;
  }

 private:
  static constexpr int kAnyScript = -1;

  static bool is_definite(int script) { return script != kAnyScript && script != kScriptInherited; }
  static bool is_digit(char32_t c) {
    return (c >= 0x30 && c <= 0x39) || (c >= 0xff10 && c <= 0xff19);
  }
  static bool all_spaces(const char32_t* piece, size_t length) {
    for (size_t i = 0; i < length; ++i) {
      if (piece[i] != kSpaceMark) return false;
    }
    return true;
  }

  // Japanese mixes three scripts within a word, so they count as one script.
  int script_class(char32_t c) const {
    if (!split_by_number && is_digit(c)) return kAnyScript;
    const int script = script_of(c);
    const bool kana = script == kScriptHiragana || script == kScriptKatakana || c == 0x30fc;
    return kana ? kScriptHan : script;
  }

  // Whether the character at index i of a piece may be a space mark.
  bool may_be_space(size_t i, size_t length) const {
    const bool first = i == 0;
    const bool last = i + 1 == length;
    if (whitespace_as_suffix) return last || (!split_by_whitespace && !first);
    return first || (!split_by_whitespace && !last);
  }
};

}  // namespace spmcompat
