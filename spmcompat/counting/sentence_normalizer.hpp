// Normalizes sentences and raw tokens, and inserts boundary marks at the positions that no piece
// may cross. A SentenceNormalizer is immutable, so all workers share one.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/normalization/normalizer.hpp"
#include "spmcompat/plan.hpp"
#include "spmcompat/pretokenization/cuts.hpp"
#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/pretokenization/script_runs.hpp"
#include "spmcompat/unicode/marks.hpp"
#include "spmcompat/unicode/utf8.hpp"
#include "spmcompat/unicode/well_formed.hpp"

namespace spmcompat {

enum class RawTokenKind : uint8_t {
  kPlain,      // the token normalizes to itself
  kChanged,    // the token normalizes to something else
  kIrregular,  // the token's pretokens depend on its neighbours, or is_damaged() returns true
};

class SentenceNormalizer {
 public:
  SentenceNormalizer(std::string_view charsmap, std::vector<std::string> symbols, const Plan& plan)
      : rule_(plan.cutting),
        delimiter_(plan.counting.delimiter),
        normalizer_(charsmap, options_of(plan.counting)),
        meta_pieces_(std::move(symbols), static_cast<char>(plan.cutting.boundary)) {
    if (plan.counting.script_runs) script_runs_.emplace();
  }

  // The methods below write their result to `text`, and use `scratch` as temporary memory.
  void normalize(const char* sentence, size_t size, std::string& text, std::string& scratch) const {
    normalizer_.normalize(sentence, size, text);
    mark_boundaries(text, scratch);
  }

  // Normalizes a raw token as part of a sentence, with a space mark before it.
  void normalize_raw_token(std::string_view raw, RawTokenKind kind, std::string& text,
                           std::string& scratch) const {
    text.assign(kSpaceUtf8);
    if (kind == RawTokenKind::kPlain) {
      text.append(raw);
    } else {
      append_changed(raw, text, scratch);
    }
    mark_boundaries(text, scratch);
  }

  // Copies a sentence in which a Python function has inserted boundary marks. Each malformed byte
  // becomes U+FFFD.
  void take_marked(std::string_view marked, std::string& text) const {
    text.clear();
    for_each_character(marked, [&text](char32_t c) { append_utf8(c, text); });
  }

  RawTokenKind kind_of(std::string_view raw, std::string& scratch) const {
    normalizer_.normalize_raw_token(raw.data(), raw.size(), scratch);
    if (is_irregular(scratch) || has_no_pretoken(raw) || is_damaged(raw)) {
      return RawTokenKind::kIrregular;
    }
    return scratch == raw ? RawTokenKind::kPlain : RawTokenKind::kChanged;
  }

  // Whether a raw token contains a NUL or is not well-formed UTF-8. If so, its sentence is counted
  // as a whole, because only Counter::add_whole counts the damaged sentences for the warnings.
  static bool is_damaged(std::string_view raw) { return contains_nul(raw) || !is_utf8(raw); }
  static bool contains_nul(std::string_view text) {
    return std::memchr(text.data(), 0, text.size()) != nullptr;
  }

 private:
  static NormalizerOptions options_of(const CountingPlan& plan) {
    NormalizerOptions options;
    options.add_dummy_prefix = plan.add_dummy_prefix;
    options.remove_extra_whitespaces = plan.remove_extra_whitespaces;
    options.escape_whitespaces = true;
    options.treat_whitespace_as_suffix = plan.treat_whitespace_as_suffix;
    return options;
  }

  void append_changed(std::string_view raw, std::string& text, std::string& scratch) const {
    normalizer_.normalize_raw_token(raw.data(), raw.size(), scratch);
    if (scratch.back() == ' ') scratch.pop_back();
    if (scratch.find(' ') == std::string::npos) {
      text.append(scratch);
      return;
    }
    for (const char c : scratch) {
      if (c == ' ') {
        text.append(kSpaceUtf8);
      } else {
        text.push_back(c);
      }
    }
  }

  // Whether the pretokens of a raw token depend on the rest of its sentence. They do if
  // - the token normalizes to nothing, because then the token before it may end the sentence,
  // - the normalized token contains a space mark or two consecutive spaces, or
  // - the token may belong to the same script run as its neighbours.
  bool is_irregular(const std::string& normalized) const {
    return normalized.empty() || normalized.find("  ") != std::string::npos ||
           normalized.find(kSpaceUtf8) != std::string::npos ||
           (script_runs_ && script_runs_->reaches_out(normalized));
  }

  // Whether a raw token normalizes to only spaces and boundary marks, and therefore contains no
  // pretoken.
  bool has_no_pretoken(std::string_view raw) const {
    if (!rule_.spaces_apart || !rule_.boundaries_end_pretokens) return false;
    std::string text, scratch;
    normalize_raw_token(raw, RawTokenKind::kChanged, text, scratch);
    bool found = false;
    for_each_pretoken(text, rule_, [&found](std::string_view, bool) { found = true; });
    return !found;
  }

  void mark_boundaries(std::string& text, std::string& scratch) const {
    if (meta_pieces_.occur_in(text)) {
      meta_pieces_.replace(text, scratch);
      text.swap(scratch);
    }
    mark_delimiters(text, delimiter_, rule_.boundary, scratch);
    if (script_runs_) {
      script_runs_->mark(text, rule_.boundary, scratch);
      text.swap(scratch);
    }
  }

  PieceRule rule_;
  std::string delimiter_;
  Normalizer normalizer_;
  MetaPieceMatcher meta_pieces_;
  std::optional<ScriptRuns> script_runs_;
};

}  // namespace spmcompat
