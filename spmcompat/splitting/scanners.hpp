// Splits a text into words as the regular expressions of well-known tokenizers do, but without a
// regular expression engine.
//
// The expressions match every character, so the words of a text, one after another, are the text.
// An expression never looks at what is before a word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "spmcompat/splitting/properties.hpp"

namespace spmcompat {

// expressions.py has the expression of each scanner, and scanners.pyx the names in this order.
enum class Scanner : uint8_t { kGpt2, kCl100k, kO200k, kLlama3, kQwen2 };

// The facts in which the expressions differ.
struct Llama3Facts {
  static constexpr bool kGpt2 = false;       // ` ?\p{L}+| ?\p{N}+`, and CR and LF are not special
  static constexpr bool kCased = false;      // the words of o200k
  static constexpr bool kWholeEnd = false;   // `\s+$`: white space at the end of a text is one word
  static constexpr size_t kMostNumbers = 3;  // in a word
};

struct Qwen2Facts : Llama3Facts {
  static constexpr size_t kMostNumbers = 1;
};

struct Cl100kFacts : Llama3Facts {
  static constexpr bool kWholeEnd = true;
};

struct O200kFacts : Llama3Facts {
  static constexpr bool kCased = true;
};

struct Gpt2Facts : Llama3Facts {
  static constexpr bool kGpt2 = true;
  static constexpr size_t kMostNumbers = SIZE_MAX;
};

// Finds the end of a word. Each function gets the place from which it reads.
template <typename Facts>
class WordScanner {
 public:
  explicit WordScanner(const char* end) : end_(end) {}

  const char* word_end(const char* begin) const {
    if constexpr (!Facts::kCased) {
      if (const size_t size = contraction_size(begin)) return begin + size;
    }
    size_t size;
    const uint8_t first = class_at(begin, &size);
    if (first & kWord) return letters_end(begin);
    const char* next = begin + size;
    const uint8_t second = next < end_ ? class_at(next, &size) : 0;
    const bool space = *begin == ' ';
    if (second & kWord && (Facts::kGpt2 ? space : first & kBeforeWord)) return letters_end(next);
    if (first & kNumber) return run_end<kNumber>(begin, Facts::kMostNumbers);
    if (Facts::kGpt2 && space && second & kNumber) return run_end<kNumber>(next);
    if (first & kOther || (space && second & kOther)) return others_end(next);
    return white_space_end(begin);
  }

 private:
  // In o200k, a mark is like a letter without case. Its expression allows a mark before the letters
  // of a word, too, but a word that begins with a mark is the same in both readings.
  static constexpr uint8_t kWord = kLetter | (Facts::kCased ? kMark : 0);
  static constexpr uint8_t kBeforeWord = (kBlank | kMark | kSymbol) & ~kWord;
  static constexpr uint8_t kOther = kMark | kSymbol;

  // Returns the end of a run of characters of the given classes.
  template <uint8_t kClasses>
  const char* run_end(const char* at, size_t most = SIZE_MAX) const {
    for (size_t size; most > 0 && at < end_ && class_at(at, &size) & kClasses; --most) at += size;
    return at;
  }

  const char* letters_end(const char* at) const {
    if constexpr (Facts::kCased) {
      at = cased_end(at);
      return at + contraction_size(at);
    }
    return run_end<kLetter>(at);
  }

  // Returns the end of `[Lu Lt Lm Lo M]*[Ll Lm Lo M]+|[Lu Lt Lm Lo M]+[Ll Lm Lo M]*`, where there is
  // at least one such character. The first part takes all it can. If no small letter follows it, it
  // gives back the capitals at its end, so that a character without case is left for the second
  // part. If it has none, only the second alternative matches.
  const char* cased_end(const char* at) const {
    const char* after_caseless = nullptr;
    size_t size;
    for (; at < end_; at += size) {
      const uint8_t found = class_at(at, &size);
      if (found & kSmall) return run_end<kSmall | kCaseless | kMark>(at);
      if (!(found & kWord)) break;
      if (!(found & kCapital)) after_caseless = at + size;
    }
    return after_caseless != nullptr ? after_caseless : at;
  }

  // Returns the end of `[^\s\p{L}\p{N}]*[\r\n]*`; in o200k, the last part also has slashes.
  const char* others_end(const char* at) const {
    at = run_end<kOther>(at);
    if constexpr (!Facts::kGpt2) {
      while (at < end_ && (*at == '\r' || *at == '\n' || (Facts::kCased && *at == '/'))) ++at;
    }
    return at;
  }

  // Returns the end of `\s*[\r\n]+|\s+(?!\S)|\s+`: the white space up to the last line end, or else
  // all but the last character if something follows and this is not the only one.
  const char* white_space_end(const char* begin) const {
    const char* after_newline = nullptr;
    const char* last = begin;
    const char* at = begin;
    for (size_t size; at < end_; at += size) {
      const uint8_t found = class_at(at, &size);
      if (!(found & kWhite)) break;
      last = at;
      if (found & kNewline) after_newline = at + size;
    }
    if (Facts::kWholeEnd && at == end_) return at;
    if (!Facts::kGpt2 && after_newline != nullptr) return after_newline;
    return at == end_ || last == begin ? at : last;
  }

  // Returns the size of `'s|'t|'re|'ve|'m|'ll|'d` at `at`, or 0. If case is ignored, U+017F counts
  // as s; no other character is equal to one of these letters.
  size_t contraction_size(const char* at) const {
    constexpr char kFold = Facts::kGpt2 ? 0 : 'a' - 'A';
    const size_t left = end_ - at;
    if (left < 2 || *at != '\'') return 0;
    const auto third = [&](char letter) -> size_t {
      return left > 2 && (at[2] | kFold) == letter ? 3 : 0;
    };
    if (!Facts::kGpt2 && left > 2 && at[1] == '\xc5' && at[2] == '\xbf') return 3;
    switch (at[1] | kFold) {
      case 's':
      case 't':
      case 'm':
      case 'd': return 2;
      case 'r':
      case 'v': return third('e');
      case 'l': return third('l');
    }
    return 0;
  }

  const char* end_;
};

template <typename Facts, typename Function>
void for_each_word_with(std::string_view text, Function function) {
  const char* end = text.data() + text.size();
  const WordScanner<Facts> scanner(end);
  for (const char* at = text.data(); at < end;) {
    const char* stop = scanner.word_end(at);
    function(std::string_view(at, stop - at));
    at = stop;
  }
}

// Calls function(word) for every word of a well-formed text.
template <typename Function>
void for_each_word(Scanner scanner, std::string_view text, Function function) {
  switch (scanner) {
    case Scanner::kGpt2: return for_each_word_with<Gpt2Facts>(text, function);
    case Scanner::kCl100k: return for_each_word_with<Cl100kFacts>(text, function);
    case Scanner::kO200k: return for_each_word_with<O200kFacts>(text, function);
    case Scanner::kLlama3: return for_each_word_with<Llama3Facts>(text, function);
    case Scanner::kQwen2: return for_each_word_with<Qwen2Facts>(text, function);
  }
}

// Returns the words of a well-formed text.
inline std::vector<std::string_view> words_of(Scanner scanner, std::string_view text) {
  std::vector<std::string_view> words;
  for_each_word(scanner, text, [&words](std::string_view word) { words.push_back(word); });
  return words;
}

}  // namespace spmcompat
