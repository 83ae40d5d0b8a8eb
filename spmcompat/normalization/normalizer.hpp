// Normalization: applies the rules of a charsmap by leftmost longest match, collapses spaces and
// replaces them with the space mark, and adds a space mark at the beginning.
//
// Any number of threads can share a Normalizer: it is const and does not use Python objects. Most
// text does not match any rule, so a table marks the plain characters. A plain character normalizes
// to itself, whatever follows it. Ranges of plain characters are copied at once. All other text is
// looked up in the double array, character by character.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/containers/double_array.hpp"
#include "spmcompat/normalization/charsmap.hpp"
#include "spmcompat/unicode/marks.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

struct NormalizerOptions {
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;
  bool treat_whitespace_as_suffix = false;
};

// Finds the longest symbol of a set that begins at a given position.
class SymbolMatcher {
 public:
  // Throws std::runtime_error if a symbol contains a 0 byte.
  explicit SymbolMatcher(std::vector<std::string> symbols) {
    std::sort(symbols.begin(), symbols.end());
    std::vector<std::pair<std::string, uint32_t>> keys;
    for (const std::string& symbol : symbols) {
      if (symbol.find('\0') != std::string::npos) {
        throw std::runtime_error(
            "failed to build double-array: invalid null character: remove U+0000 from the "
            "symbols.");
      }
      if (symbol.empty()) continue;
      begins_[static_cast<unsigned char>(symbol[0])] = true;
      keys.emplace_back(symbol, 0);
    }
    if (!keys.empty()) symbols_ = DoubleArray::build(keys);
  }

  bool empty() const { return symbols_.empty(); }

  // Returns the length of the longest symbol that begins at `at`, or 0 if there is none.
  size_t match(const char* at, const char* end) const {
    if (!begins_[static_cast<unsigned char>(*at)]) return 0;
    return symbols_.longest_prefix(at, end, kMaxMatches).length;
  }

 private:
  static constexpr size_t kMaxMatches = 64;

  DoubleArray symbols_;
  std::array<bool, 256> begins_{};
};

class Normalizer {
 public:
  // Throws std::runtime_error if the charsmap is broken. An empty charsmap has no rules. The
  // `symbols` are not normalized; they must outlive the normalizer.
  Normalizer(std::string_view charsmap, const NormalizerOptions& options,
             const SymbolMatcher* symbols = nullptr)
      : options_(options),
        space_(options.escape_whitespaces ? kSpaceUtf8 : " "),
        charsmap_(parse_charsmap(charsmap)),
        symbols_(symbols) {
    for (int c = 0; c < 128; ++c) ascii_[c] = ascii_class(static_cast<char>(c));
    find_plain_characters();
    plain_space_ = ascii_class(' ') == kPlain;
    ascii_[int{' '}] = kSpecial;
    if (symbols_ != nullptr) {  // no character is plain, because a symbol may begin with it
      ascii_.fill(kSpecial);
      plain_.fill(false);
      plain_space_ = false;
    }
  }

  // Replaces `out` with the normalized text. Every malformed byte becomes U+FFFD.
  void normalize(const char* text, size_t size, std::string& out) const {
    out.clear();
    const char* end = text + size;
    const char* at = options_.remove_extra_whitespaces ? skip_spaces(text, end) : text;
    if (at == end) return;
    out.reserve(size + size / 2);
    const bool mark = options_.add_dummy_prefix;
    if (mark && !options_.treat_whitespace_as_suffix) out += space_;
    append(at, end, options_.remove_extra_whitespaces, space_, out);
    if (options_.remove_extra_whitespaces) strip_end(out);
    if (mark && options_.treat_whitespace_as_suffix) out += space_;
  }

  // Normalizes a raw token, and replaces `out` with the result. The raw token must not contain
  // U+0020. It is normalized as if a space came before it, in a text whose spaces are collapsed.
  // Spaces that rules produce remain U+0020. No space mark is added at the beginning, and no space
  // is removed at the end.
  void normalize_raw_token(const char* text, size_t size, std::string& out) const {
    out.clear();
    append(text, text + size, true, " ", out);
  }

 private:
  enum Ascii : uint8_t {
    kSpecial,   // the space, or begins a rule that has one character or an ASCII second character
    kPlain,     // begins no rule
    kCombines,  // begins rules, but only rules whose second character is not ASCII
  };

  struct Normalized {
    std::string_view text;
    size_t consumed;
  };

  Ascii ascii_class(char c) const {
    if (charsmap_.rules.empty()) return kPlain;
    const DoubleArray& rules = charsmap_.rules;
    uint32_t base = rules.root();
    bool is_key;
    if (!rules.step(&base, static_cast<uint8_t>(c), &is_key)) return kPlain;
    if (is_key) return kSpecial;
    for (int next = 0; next < 128; ++next) {
      if (has_arc(base, static_cast<uint8_t>(next))) return kSpecial;
    }
    return kCombines;
  }

  // Fills plain_. The characters of a block of 64 differ only in the last byte: if no rule begins
  // with the bytes before the last one, all 64 characters are plain.
  void find_plain_characters() {
    std::string bytes;
    for (char32_t first = 0x80; first < plain_.size(); first += 64) {
      if (!is_code_point(first)) continue;
      bytes.clear();
      append_utf8(first, bytes);
      const std::string_view shared(bytes.data(), bytes.size() - 1);
      const bool all_plain = begins_no_rule(shared);
      for (char32_t c = first; c < first + 64; ++c) {
        bytes.back() = static_cast<char>(0x80 | (c & 0x3f));
        plain_[c] = all_plain || begins_no_rule(bytes);
      }
    }
  }

  // Whether no rule can match at the beginning of a text that begins with these bytes.
  bool begins_no_rule(std::string_view bytes) const {
    if (charsmap_.rules.empty()) return true;
    uint32_t base = charsmap_.rules.root();
    for (const char byte : bytes) {
      bool is_key;
      if (!charsmap_.rules.step(&base, static_cast<uint8_t>(byte), &is_key)) return true;
      if (is_key) return false;
    }
    return false;
  }

  bool has_arc(uint32_t state, uint8_t label) const {
    bool is_key;
    return charsmap_.rules.step(&state, label, &is_key);
  }

  // Returns the symbol at `at`. If there is none, returns the target of the longest rule that
  // matches. If no rule matches, returns the character.
  Normalized normalize_first(const char* at, const char* end) const {
    if (symbols_ != nullptr) {
      const size_t length = symbols_->match(at, end);
      if (length > 0) return {std::string_view(at, length), length};
    }
    const DoubleArray::Match match = charsmap_.rules.longest_prefix(at, end, kMaxRulesAtOnce);
    if (match.length > 0) return {charsmap_.target(match.value), match.length};
    size_t size;
    if (decode_utf8(at, end, &size) == kReplacement && size == 1) return {"\xef\xbf\xbd", 1};
    return {std::string_view(at, size), size};
  }

  const char* skip_spaces(const char* at, const char* end) const {
    while (at < end) {
      const Normalized one = normalize_first(at, end);
      if (one.text != " ") break;
      at += one.consumed;
    }
    return at;
  }

  // Returns the end of the sequence of plain characters that begins at `at`.
  const char* skip_plain(const char* at, const char* end) const {
    while (at < end) {
      const char* begin = at;
      while (at < end && static_cast<signed char>(*at) >= 0 && ascii_[int{*at}] != kSpecial) ++at;
      if (at == end || static_cast<signed char>(*at) >= 0) return at;
      if (at > begin && ascii_[int{at[-1]}] == kCombines) return at - 1;
      size_t size;
      const char32_t c = decode_utf8(at, end, &size);
      if (size == 1 || c >= plain_.size() || !plain_[c]) return at;
      at += size;
    }
    return at;
  }

  void append(const char* at, const char* end, bool collapse, std::string_view space,
              std::string& out) const {
    bool after_space = collapse;
    while (at < end) {
      const char* stop = skip_plain(at, end);
      if (stop > at) {
        out.append(at, stop - at);
        at = stop;
        after_space = false;
        if (at == end) break;
      }
      if (*at == ' ' && plain_space_) {
        if (!after_space) out += space;
        after_space = collapse;
        ++at;
        continue;
      }
      Normalized one = normalize_first(at, end);
      at += one.consumed;
      while (after_space && !one.text.empty() && one.text.front() == ' ') {
        one.text.remove_prefix(1);
      }
      if (one.text.empty()) continue;
      append_spaced(one.text, space, out);
      after_space = collapse && one.text.back() == ' ';
    }
  }

  static void append_spaced(std::string_view text, std::string_view space, std::string& out) {
    for (const char c : text) {
      if (c == ' ') {
        out += space;
      } else {
        out += c;
      }
    }
  }

  // Removes spaces, or space marks that replace them, from the end. Compares bytes, so space marks
  // that were in the original text are also removed.
  void strip_end(std::string& out) const {
    size_t size = out.size();
    while (size >= space_.size() && out.compare(size - space_.size(), space_.size(), space_) == 0) {
      size -= space_.size();
    }
    out.resize(size);
  }

  NormalizerOptions options_;
  std::string space_;
  Charsmap charsmap_;
  const SymbolMatcher* symbols_;
  std::array<Ascii, 128> ascii_;
  std::array<bool, 0x10000> plain_{};  // whether the code point is plain; not used for ASCII
  bool plain_space_;
};

// Replaces every meta piece with a mark, by leftmost longest match. Where no meta piece begins,
// skips one character, whose size is read from its first byte.
class MetaPieceMatcher {
 public:
  // Throws std::runtime_error if a symbol contains a 0 byte.
  MetaPieceMatcher(std::vector<std::string> symbols, char mark)
      : mark_(mark), symbols_(std::move(symbols)) {}

  bool occur_in(std::string_view text) const {
    const char* end = text.data() + text.size();
    for (const char* at = text.data(); at < end; at = after_character(at, end)) {
      if (symbols_.match(at, end) > 0) return true;
    }
    return false;
  }

  void replace(const std::string& in, std::string& out) const {
    out.clear();
    const char* end = in.data() + in.size();
    const char* kept = in.data();  // the text before this position was already written
    for (const char* at = kept; at < end;) {
      const size_t length = symbols_.match(at, end);
      if (length > 0) {
        out.append(kept, at - kept);
        out.push_back(mark_);
        kept = at += length;
      } else {
        at = after_character(at, end);
      }
    }
    out.append(kept, end - kept);
  }

 private:
  static const char* after_character(const char* at, const char* end) {
    return at + std::min<size_t>(char_size(*at), end - at);
  }

  char mark_;
  SymbolMatcher symbols_;
};

}  // namespace spmcompat
