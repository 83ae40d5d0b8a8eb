// Divides the input into lines, and decides which of them are sentences.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "spmcompat/text/sampling.hpp"
#include "spmcompat/unicode/marks.hpp"
#include "spmcompat/unicode/utf8.hpp"
#include "spmcompat/unicode/well_formed.hpp"

namespace spmcompat {

// Returns how many bytes of a line are kept: all bytes, but at most `longest` + 1. The additional
// byte shows that the line is too long.
inline size_t kept_of(size_t size, size_t longest) { return std::min(size, longest + 1); }

// Returns a text without the CR and LF at its end.
inline std::string_view without_line_end(std::string_view text) {
  while (!text.empty() && (text.back() == '\r' || text.back() == '\n')) text.remove_suffix(1);
  return text;
}

// Divides concatenated items into lines, without CR and LF at their ends.
inline void split_items(const std::string& items, const std::vector<size_t>& ends,
                        std::string& lines, std::vector<size_t>& line_ends) {
  lines.reserve(items.size());
  const char* text = items.data();
  for (const size_t item_end : ends) {
    const char* end = items.data() + item_end;
    do {
      const char* stop = static_cast<const char*>(std::memchr(text, '\n', end - text));
      const char* next = stop == nullptr ? end : stop + 1;
      if (stop == nullptr) stop = end;
      while (stop > text && stop[-1] == '\r') --stop;
      lines.append(text, stop - text);
      line_ends.push_back(lines.size());
      text = next;
    } while (text < end);
  }
}

// The text of a read buffer: lines, of which the last may lack its LF, or items one after another.
struct BufferText {
  std::string_view text;
  const std::vector<size_t>* item_ends;  // the position after each item; null for lines
};

// Calls function(text) for each line, including its LF, or each item.
template <typename Function>
void for_each_text(const BufferText& buffer, Function function) {
  const std::string_view text = buffer.text;
  size_t begin = 0;
  const auto take_to = [&](size_t end) {
    function(text.substr(begin, end - begin));
    begin = end;
  };
  if (buffer.item_ends != nullptr) {
    for (const size_t end : *buffer.item_ends) take_to(end);
  } else {
    while (begin < text.size()) take_to(std::min(text.find('\n', begin), text.size() - 1) + 1);
  }
}

// Returns the position after each text.
inline std::vector<size_t> ends_of_texts(const BufferText& buffer) {
  std::vector<size_t> ends;
  for_each_text(buffer, [&](std::string_view text) {
    ends.push_back(text.size() + (ends.empty() ? 0 : ends.back()));
  });
  return ends;
}

// Returns the first text that is not well-formed UTF-8, or null. Checking all lines at once is
// faster; but the items of a buffer can be well-formed together without being so by themselves.
inline const char* malformed_text(const BufferText& buffer) {
  if (buffer.item_ends == nullptr && is_utf8(buffer.text)) return nullptr;
  const char* found = nullptr;
  for_each_text(buffer, [&](std::string_view text) {
    if (found == nullptr && !is_utf8(text)) found = text.data();
  });
  return found;
}

// Returns the size in bytes of the white space character at the beginning of a text, or 0 if there
// is none. White space is what has the property White_Space in Unicode.
inline size_t white_space_size(std::string_view text) {
  if (text.empty()) return 0;
  size_t size;
  const char32_t c = decode_utf8(text.data(), text.data() + text.size(), &size);
  const bool is_space = c == 0x20 || (c >= 0x9 && c <= 0xd) || c == 0x85 || c == 0xa0 ||
                        c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
                        c == 0x202f || c == 0x205f || c == 0x3000;
  return is_space ? size : 0;
}

// A line whose end has not been read yet. If it has more than `longest` bytes, only the first
// `longest` + 1 are kept.
class UnfinishedLine {
 public:
  explicit UnfinishedLine(size_t longest) : longest_(longest) {}

  void begin(std::string_view text) {
    text_.clear();
    dropped_ = 0;
    append(text);
  }
  void append(std::string_view text) {
    const size_t room = is_too_long() ? 0 : longest_ + 1 - text_.size();
    text_.append(text.substr(0, room));
    dropped_ += text.size() - std::min(text.size(), room);
  }
  // Returns `text`. If the line is already too long, returns only what follows the line in `text`.
  std::string_view drop_from(std::string_view text) {
    if (!is_too_long()) return text;
    const size_t size = std::min(text.find('\n'), text.size());
    dropped_ += size;
    return text.substr(size);
  }

  std::string_view text() const { return text_; }
  size_t dropped() const { return dropped_; }  // bytes

 private:
  bool is_too_long() const { return text_.size() > longest_; }

  size_t longest_;
  std::string text_;
  size_t dropped_ = 0;
};

// How many lines a LineFilter has seen, in all read buffers.
struct LineTotals {
  uint64_t lines = 0;  // those that are sentences
  uint64_t too_long = 0, too_long_bytes = 0;
  uint64_t reserved = 0;  // lines that contain the unknown mark
  uint64_t empty = 0;
  // The number of lines that were divided, and of the parts that they were divided into.
  uint64_t divided = 0, parts = 0;
  // The sum of count times length over all sentences whose count is at least 2^40. Lengths are in
  // characters before normalization. If the sum is 2^64 or more, 64-bit counters may have
  // overflowed.
  double huge_characters = 0;
};

// Decides which lines are sentences, and counts sentences and other lines.
//
// With `splits_long`, a line that is too long is divided into sentences. Each sentence ends at the
// last white space that leaves it short enough, and the next one begins after this character. A
// word that is itself too long is skipped. The result is the same as if each white space at which a
// line is divided were a line end.
//
// With `streams_numbers`, the count of a TSV line is read as a C++ stream reads numbers: only the
// number at the beginning of the field counts. With `skips_empty_fields`, several TABs in a row
// separate fields like a single TAB, and TABs at both ends of a line are ignored.
class LineFilter {
 public:
  LineFilter(size_t max_length, bool splits_long, bool tsv, bool streams_numbers,
             bool skips_empty_fields)
      : max_length_(max_length),
        splits_long_(splits_long),
        tsv_(tsv),
        streams_numbers_(streams_numbers),
        skips_empty_fields_(skips_empty_fields) {}

  // Calls function(text, size, count) for every sentence, until the function returns false. Items
  // may contain any byte.
  template <typename Function>
  void for_each_sentence(const BufferText& buffer, Function function) {
    line_ = 0;
    first_too_long_ = first_reserved_ = nullptr;
    const char* text = buffer.text.data();
    if (buffer.item_ends != nullptr) {
      size_t begin = 0;
      for (const size_t end : *buffer.item_ends) {
        if (!take_line({text + begin, end - begin}, function)) return;
        begin = end;
      }
      return;
    }
    const char* end = text + buffer.text.size();
    while (text < end) {
      const char* stop = static_cast<const char*>(std::memchr(text, '\n', end - text));
      if (stop == nullptr) stop = end;
      if (!take_line({text, static_cast<size_t>(stop - text)}, function)) return;
      text = stop + 1;
    }
  }

  // The number of the current line in the read buffer, counted from 1.
  uint64_t line() const { return line_; }
  // The first line of the read buffer that was skipped because it is too long (`first_too_long`),
  // or because it contains the unknown mark (`first_reserved`). Null if there is no such line.
  const char* first_too_long() const { return first_too_long_; }
  const char* first_reserved() const { return first_reserved_; }

  LineTotals totals;

 private:
  static constexpr int64_t kHuge = int64_t{1} << 40;
  static constexpr const char* kBadFormat = "Input format must be: word <tab> freq.";

  template <typename Function>
  bool take_line(std::string_view sentence, Function function) {
    ++line_;
    int64_t count = 1;
    if (tsv_) sentence = parse_tsv(sentence, &count);
    if (!splits_long_ || sentence.size() <= max_length_) {
      return take_sentence(sentence, count, function);
    }
    ++totals.divided;
    while (!sentence.empty()) {
      const std::string_view part = remove_part(sentence);
      if (part.empty()) continue;
      ++totals.parts;
      if (!take_sentence(part, count, function)) return false;
    }
    return true;
  }

  template <typename Function>
  bool take_sentence(std::string_view sentence, int64_t count, Function function) {
    if (sentence.empty()) {
      ++totals.empty;
    } else if (sentence.size() > max_length_) {
      ++totals.too_long;
      totals.too_long_bytes += sentence.size();
      if (first_too_long_ == nullptr) first_too_long_ = sentence.data();
    } else if (sentence.find(kUnknownUtf8) != std::string_view::npos) {
      ++totals.reserved;
      if (first_reserved_ == nullptr) first_reserved_ = sentence.data();
    } else {
      ++totals.lines;
      if (count >= kHuge) {
        totals.huge_characters += static_cast<double>(count) * characters(sentence);
      }
      return function(sentence.data(), sentence.size(), count);
    }
    return true;
  }

  // Removes and returns the next part of a line that is being divided. Also removes the white space
  // after this part.
  std::string_view remove_part(std::string_view& line) const {
    const auto space_at = [&line](size_t i) { return white_space_size(line.substr(i)); };
    size_t end = line.size();
    if (end > max_length_) {
      end = max_length_;
      while (end > 0 && space_at(end) == 0) --end;
      // If there is no white space up to the limit, the part is a single word that is too long.
      if (space_at(end) == 0) {
        end = max_length_;
        while (end < line.size() && space_at(end) == 0) ++end;
      }
    }
    const std::string_view part = line.substr(0, end);
    line.remove_prefix(end + space_at(end));
    return part;
  }

  static size_t characters(std::string_view text) {
    return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; });
  }

  // Parses a line that consists of a word, a TAB and a count. Returns the word.
  std::string_view parse_tsv(std::string_view line, int64_t* count) const {
    if (skips_empty_fields_) line = without_tabs_around(line);
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos) throw std::runtime_error(kBadFormat);
    std::string_view field = line.substr(tab + 1);
    if (skips_empty_fields_) field = without_tabs_around(field);
    if (field.find('\t') != std::string_view::npos) throw std::runtime_error(kBadFormat);
    *count = parse_count(field);
    return line.substr(0, tab);
  }

  static std::string_view without_tabs_around(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of('\t'), text.size()));
    text.remove_suffix(text.size() - (text.find_last_not_of('\t') + 1));
    return text;
  }

  int64_t parse_count(std::string_view field) const {
    const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
    while (!field.empty() && is_space(field.front())) field.remove_prefix(1);
    while (!field.empty() && is_space(field.back())) field.remove_suffix(1);
    const bool has_plus = field.size() > 1 && field[0] == '+' && field[1] != '-';
    if (has_plus) field.remove_prefix(1);  // from_chars reads only a minus sign
    int64_t value = 0;
    const char* const end = field.data() + field.size();
    const auto [stop, error] = std::from_chars(field.data(), end, value);
    if (error != std::errc() || (stop != end && !streams_numbers_)) {
      throw std::runtime_error("Could not parse the frequency");
    }
    if (value < 1) throw std::runtime_error("The frequency must be at least 1");
    return value;
  }

  size_t max_length_;
  bool splits_long_, tsv_, streams_numbers_, skips_empty_fields_;
  uint64_t line_ = 0;
  const char *first_too_long_ = nullptr, *first_reserved_ = nullptr;
};

// Offers the sentences of a text to the sample until the sample is done.
inline void sample_lines(LineFilter& filter, const BufferText& buffer, ReservoirSample& sample) {
  filter.for_each_sentence(buffer, [&](const char* sentence, size_t size, int64_t count) {
    sample.offer(sentence, size, count);
    return !sample.done();
  });
}

// Offers whole lines, which include their ends, or items to the sample. Returns the first one that
// is not well-formed UTF-8, or null.
inline const char* sample_texts(const BufferText& buffer, ReservoirSample& sample) {
  if (const char* malformed = malformed_text(buffer)) return malformed;
  for_each_text(buffer, [&](std::string_view text) { sample.offer(text.data(), text.size(), 1); });
  return nullptr;
}

}  // namespace spmcompat
