// Lines of the input: which of them are sentences, and which of these are sampled.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/unicode/marks.hpp"

namespace spmcompat {

// The tests that a line passes before it is counted as a sentence.
//
// With `streamed` the count of a TSV line is what its field begins with, as C++ streams read it;
// with `no_empty_fields` TABs at the ends of a line, or next to another, divide nothing.
class LineFilter {
 public:
  LineFilter(size_t max_length, bool tsv, bool streamed, bool no_empty_fields)
      : max_length_(max_length),
        tsv_(tsv),
        streamed_(streamed),
        no_empty_fields_(no_empty_fields) {}

  // Calls function(text, size, count) for every sentence among lines that end in LF, until it
  // returns false.
  template <typename Function>
  void for_each_sentence(const char* text, size_t size, Function function) {
    line_ = 0;
    const char* end = text + size;
    while (text < end) {
      const char* stop = static_cast<const char*>(std::memchr(text, '\n', end - text));
      if (stop == nullptr) stop = end;
      if (!take(text, stop - text, function)) return;
      text = stop + 1;
    }
  }

  // The same for lines that end where `ends` says; they may hold any byte.
  template <typename Function>
  void for_each_sentence(const char* text, const std::vector<size_t>& ends, Function function) {
    line_ = 0;
    size_t begin = 0;
    for (const size_t end : ends) {
      if (!take(text + begin, end - begin, function)) return;
      begin = end;
    }
  }

  uint64_t line() const { return line_; }  // the last one looked at in the block, from 1
  uint64_t sentences() const { return sentences_; }
  uint64_t too_long() const { return too_long_; }
  uint64_t reserved() const { return reserved_; }
  // How many characters the sentences with huge counts stand for, before normalization. Counters
  // of 64 bits may have wrapped if it is 2^64 or more.
  double huge_characters() const { return huge_characters_; }

 private:
  static constexpr int64_t kHuge = int64_t{1} << 40;
  static constexpr const char* kBadFormat = "Input format must be: word <tab> freq.";

  template <typename Function>
  bool take(const char* text, size_t size, Function function) {
    ++line_;
    int64_t count = 1;
    std::string_view sentence(text, size);
    if (tsv_) sentence = parse_tsv(sentence, &count);
    if (sentence.empty()) return true;
    if (sentence.size() > max_length_) {
      ++too_long_;
    } else if (sentence.find(kUnknownUtf8) != std::string_view::npos) {
      ++reserved_;
    } else {
      ++sentences_;
      if (count >= kHuge) huge_characters_ += static_cast<double>(count) * characters(sentence);
      return function(sentence.data(), sentence.size(), count);
    }
    return true;
  }

  static size_t characters(std::string_view text) {
    return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; });
  }

  // word TAB count; returns the word.
  std::string_view parse_tsv(std::string_view line, int64_t* count) const {
    if (no_empty_fields_) line = without_tabs_around(line);
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos) throw std::runtime_error(kBadFormat);
    std::string_view field = line.substr(tab + 1);
    if (no_empty_fields_) field = without_tabs_around(field);
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
    const bool negative = !field.empty() && field.front() == '-';
    if (negative || (!field.empty() && field.front() == '+')) field.remove_prefix(1);
    if (streamed_) field = field.substr(0, field.find_first_not_of("0123456789"));
    bool valid = !field.empty();
    int64_t value = 0;
    for (const char c : field) {
      valid = valid && c >= '0' && c <= '9' && value <= (INT64_MAX - (c - '0')) / 10;
      if (!valid) break;
      value = value * 10 + (c - '0');
    }
    if (!valid) throw std::runtime_error("Could not parse the frequency");
    if (negative || value < 1) throw std::runtime_error("The frequency must be at least 1");
    return value;
  }

  size_t max_length_;
  bool tsv_, streamed_, no_empty_fields_;
  uint64_t line_ = 0, sentences_ = 0, too_long_ = 0, reserved_ = 0;
  double huge_characters_ = 0;
};

// At most `size` sentences: the first ones, or a uniform sample (Vitter 1985, algorithm R)
// that depends on the seed and the input only; of the first `among` of them, if that is not 0. A
// `narrow` sampler draws numbers of 32 bits, and from them the places that the GNU C++ library
// draws.
class Sampler {
 public:
  Sampler(uint64_t size, bool shuffle, uint64_t seed, bool narrow, uint64_t among)
      : size_(size), among_(among), shuffle_(shuffle), narrow_(narrow), wide_random_(seed),
        narrow_random_(static_cast<uint32_t>(seed)) {}

  void offer(const char* text, size_t size, int64_t count) {
    if (done()) return;
    ++offered_;
    if (!full()) {
      sentences_.emplace_back(std::string(text, size), count);
      return;
    }
    const uint64_t place = narrow_ ? narrow_below(offered_) : below(offered_);
    if (place < size_) sentences_[place] = {std::string(text, size), count};
  }

  bool done() const { return (full() && !shuffle_) || (among_ > 0 && offered_ == among_); }
  uint64_t offered() const { return offered_; }
  size_t size() const { return sentences_.size(); }
  const std::pair<std::string, int64_t>& operator[](size_t i) const { return sentences_[i]; }

 private:
  bool full() const { return sentences_.size() >= size_; }

  // Uniform in [0, bound): the incomplete last range of the generator is drawn again.
  uint64_t below(uint64_t bound) {
    const uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    uint64_t drawn;
    do {
      drawn = wide_random_();
    } while (drawn >= limit);
    return drawn % bound;
  }

  // The range of the generator is divided among the numbers, the rest of it drawn again.
  uint64_t narrow_below(uint64_t bound) {
    const uint64_t share = UINT32_MAX / bound;
    uint64_t drawn;
    do {
      drawn = narrow_random_();
    } while (drawn >= share * bound);
    return drawn / share;
  }

  uint64_t size_, among_;
  bool shuffle_, narrow_;
  std::mt19937_64 wide_random_;
  std::mt19937 narrow_random_;
  uint64_t offered_ = 0;
  std::vector<std::pair<std::string, int64_t>> sentences_;
};

}  // namespace spmcompat
