// Reads one field of each record of a JSON Lines text.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/unicode/utf8.hpp"
#include "spmcompat/unicode/well_formed.hpp"

namespace spmcompat {

// Reads the text of a record: one field of a JSON object, or a plain string. Accepts the same input
// as Python's json module. If a key occurs several times, the last one counts.
class JsonRecord {
 public:
  enum Outcome { kText, kNull, kBlank, kBroken };

  explicit JsonRecord(std::string column) : column_(std::move(column)) {}

  // Appends the text of the record to `out`. A record is broken if it is not valid JSON, lacks the
  // field, or the value of the field is neither a string nor null. Only kText changes `out`.
  Outcome read(std::string_view line, std::string& out) {
    at_ = line.data();
    end_ = at_ + line.size();
    skip_space();
    if (at_ == end_) return kBlank;
    if (!is_utf8({at_, static_cast<size_t>(end_ - at_)})) return kBroken;
    const size_t before = out.size();
    Outcome found = *at_ == '{' ? read_object(out) : read_field(out);
    skip_space();
    if (at_ != end_) found = kBroken;
    if (found != kText) out.resize(before);
    return found;
  }

 private:
  Outcome read_object(std::string& out) {
    const size_t before = out.size();
    Outcome found = kBroken;
    ++at_;
    skip_space();
    if (skip_if('}')) return found;
    do {
      skip_space();
      bool is_wanted;
      if (!read_key(&is_wanted)) return broken();
      if (is_wanted) {
        out.resize(before);
        found = read_field(out);
        if (is_broken_) return kBroken;
      } else if (!skip_value()) {
        return broken();
      }
      skip_space();
    } while (skip_if(','));
    return skip_if('}') ? found : broken();
  }

  // Reads the value of the field. Returns kBroken for a valid value of another type, too, but then
  // is_broken_ stays false, because a later field may have the same key.
  Outcome read_field(std::string& out) {
    skip_space();
    is_broken_ = false;
    if (at_ < end_ && *at_ == '"') {
      bool is_unicode = true;
      if (!read_string(out, &is_unicode)) return broken();
      return is_unicode ? kText : kBroken;
    }
    const bool is_null = at_ < end_ && *at_ == 'n';
    if (!skip_value()) return broken();
    return is_null ? kNull : kBroken;
  }

  Outcome broken() {
    is_broken_ = true;
    return kBroken;
  }

  // Reads a key and the colon after it.
  bool read_key(bool* is_wanted) {
    if (at_ == end_ || *at_ != '"') return false;
    const char* begin = at_ + 1;
    if (!skip_plain(begin)) return false;
    if (*at_ == '"') {
      *is_wanted = std::string_view(begin, at_ - begin) == column_;
      ++at_;
    } else {
      at_ = begin - 1;
      key_.clear();
      bool is_unicode = true;
      if (!read_string(key_, &is_unicode)) return false;
      *is_wanted = is_unicode && key_ == column_;
    }
    skip_space();
    return skip_if(':');
  }

  // Skips a value of any depth, without recursion.
  bool skip_value() {
    open_.clear();
    bool is_wanted;
    for (;;) {
      skip_space();
      if (at_ == end_) return false;
      if (*at_ == '{' || *at_ == '[') {
        const char close = *at_ == '{' ? '}' : ']';
        ++at_;
        skip_space();
        if (!skip_if(close)) {
          if (close == '}' && !read_key(&is_wanted)) return false;
          open_.push_back(close);
          continue;
        }
      } else if (!(*at_ == '"' ? skip_string() : skip_scalar())) {
        return false;
      }
      // A value has ended. Now either the value that contains it ends, too, or another value
      // begins.
      for (;;) {
        if (open_.empty()) return true;
        skip_space();
        if (skip_if(',')) {
          skip_space();
          if (open_.back() == '}' && !read_key(&is_wanted)) return false;
          break;
        }
        if (!skip_if(open_.back())) return false;
        open_.pop_back();
      }
    }
  }

  bool skip_string() {
    ++at_;
    for (;;) {
      if (!skip_plain(at_)) return false;
      if (*at_ == '"') break;
      char32_t c;
      if (!read_escape(&c)) return false;
    }
    ++at_;
    return true;
  }

  // Appends a string. Sets `is_unicode` to false if the string contains a lone surrogate.
  bool read_string(std::string& out, bool* is_unicode) {
    ++at_;
    for (;;) {
      const char* begin = at_;
      if (!skip_plain(begin)) return false;
      out.append(begin, at_ - begin);
      if (*at_ == '"') break;
      char32_t c;
      if (!read_escape(&c)) return false;
      if (c >= 0xd800 && c < 0xdc00) c = joined(c);
      if (is_code_point(c)) {
        append_utf8(c, out);
      } else {
        *is_unicode = false;
      }
    }
    ++at_;
    return true;
  }

  // Combines a high surrogate with the escaped low surrogate that follows it. If there is none,
  // returns the high surrogate.
  char32_t joined(char32_t high) {
    const char* after_high = at_;
    char32_t low;
    if (end_ - at_ >= 6 && at_[0] == '\\' && at_[1] == 'u' && read_escape(&low) && low >= 0xdc00 &&
        low < 0xe000) {
      return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    }
    at_ = after_high;
    return high;
  }

  // Moves to the next quotation mark or backslash after `from`. Returns false if a control
  // character or the end comes first.
  bool skip_plain(const char* from) {
    constexpr uint64_t kOnes = 0x0101010101010101, kHighs = 0x8080808080808080;
    at_ = from;
    while (end_ - at_ >= 8) {
      uint64_t eight;
      std::memcpy(&eight, at_, 8);
      const uint64_t quote = eight ^ (kOnes * '"'), backslash = eight ^ (kOnes * '\\');
      const uint64_t special = ((quote - kOnes) & ~quote) | ((backslash - kOnes) & ~backslash) |
                               ((eight - kOnes * 0x20) & ~eight);
      if (special & kHighs) break;
      at_ += 8;
    }
    for (; at_ < end_; ++at_) {
      if (*at_ == '"' || *at_ == '\\') return true;
      if (static_cast<unsigned char>(*at_) < 0x20) return false;
    }
    return false;
  }

  bool read_escape(char32_t* c) {
    if (end_ - at_ < 2) return false;
    const char kind = at_[1];
    at_ += 2;
    switch (kind) {
      case '"':
      case '\\':
      case '/': *c = kind; return true;
      case 'b': *c = '\b'; return true;
      case 'f': *c = '\f'; return true;
      case 'n': *c = '\n'; return true;
      case 'r': *c = '\r'; return true;
      case 't': *c = '\t'; return true;
      case 'u': return read_hexadecimal(c);
      default: return false;
    }
  }

  bool read_hexadecimal(char32_t* c) {
    if (end_ - at_ < 4) return false;
    *c = 0;
    for (const char* stop = at_ + 4; at_ < stop; ++at_) {
      const char digit = *at_;
      int value = -1;
      if (digit >= '0' && digit <= '9') value = digit - '0';
      if (digit >= 'a' && digit <= 'f') value = digit - 'a' + 10;
      if (digit >= 'A' && digit <= 'F') value = digit - 'A' + 10;
      if (value < 0) return false;
      *c = *c << 4 | static_cast<char32_t>(value);
    }
    return true;
  }

  // Skips a number, or a name such as true. Python's json module also accepts NaN and Infinity.
  bool skip_scalar() {
    for (const std::string_view name : {"null", "true", "false", "NaN", "Infinity", "-Infinity"}) {
      if (static_cast<size_t>(end_ - at_) >= name.size() &&
          std::string_view(at_, name.size()) == name) {
        at_ += name.size();
        return true;
      }
    }
    return skip_number();
  }

  // Skips the longest valid number. The caller checks the text after it.
  bool skip_number() {
    skip_if('-');
    if (!skip_if('0') && !skip_digits()) return false;
    const char* whole = at_;
    if (skip_if('.') && !skip_digits()) {
      at_ = whole;
      return true;
    }
    const char* mantissa = at_;
    if (skip_if('e') || skip_if('E')) {
      if (!skip_if('+')) skip_if('-');
      if (!skip_digits()) at_ = mantissa;
    }
    return true;
  }

  bool skip_digits() {
    const char* begin = at_;
    while (at_ < end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    return at_ > begin;
  }

  void skip_space() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n')) ++at_;
  }

  bool skip_if(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  std::string column_, key_;
  std::string open_;  // the closing brackets of the open values
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  bool is_broken_ = false;  // whether the record is not valid JSON
};

// Reads records from lines, and counts those that cannot be read. Skips lines with more than
// `longest` bytes, because the reader may have cut them off there.
class JsonLines {
 public:
  JsonLines(std::string column, size_t longest) : record_(std::move(column)), longest_(longest) {}

  // Appends the text of each record to `items`, without CR and LF at its end. Appends the end of
  // each text to `ends`, and the number of texts before each null to `nulls`.
  void read(const char* text, size_t size, uint64_t line, std::string& items,
            std::vector<size_t>& ends, std::vector<size_t>& nulls) {
    const char* end = text + size;
    for (; text < end; ++line) {
      const char* stop = static_cast<const char*>(std::memchr(text, '\n', end - text));
      if (stop == nullptr) stop = end;
      take(std::string_view(text, stop - text), line, items, ends, nulls);
      text = stop + 1;
    }
  }

  uint64_t too_long() const { return too_long_; }
  uint64_t first_too_long_line() const { return first_too_long_line_; }
  uint64_t broken() const { return broken_; }
  // The number and the text of the first broken line.
  uint64_t first_broken_line() const { return first_broken_line_; }
  const std::string& first_broken() const { return first_broken_; }

 private:
  void take(std::string_view line, uint64_t number, std::string& items, std::vector<size_t>& ends,
            std::vector<size_t>& nulls) {
    if (line.size() > longest_) {
      if (too_long_++ == 0) first_too_long_line_ = number;
      return;
    }
    const size_t begin = items.size();
    switch (record_.read(line, items)) {
      case JsonRecord::kText:
        while (items.size() > begin && (items.back() == '\r' || items.back() == '\n')) {
          items.pop_back();
        }
        ends.push_back(items.size());
        break;
      case JsonRecord::kNull: nulls.push_back(ends.size()); break;
      case JsonRecord::kBlank: break;
      case JsonRecord::kBroken:
        if (broken_++ == 0) {
          first_broken_line_ = number;
          first_broken_ = line;
        }
        break;
    }
  }

  JsonRecord record_;
  size_t longest_;
  uint64_t too_long_ = 0, first_too_long_line_ = 0;
  uint64_t broken_ = 0, first_broken_line_ = 0;
  std::string first_broken_;
};

}  // namespace spmcompat
