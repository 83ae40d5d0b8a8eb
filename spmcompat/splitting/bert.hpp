// Splits a text into words as BERT's normalizer and pre-tokenizer of Hugging Face tokenizers do.
//
// The words are normalized, so they are not parts of the text. The words of the chunks of a text
// (chunks.hpp), one after another, are the words of the text, because a chunk begins at a space:
// the characters are mapped one by one, a space ends a word, and nonstarters are only ordered
// between two other characters, such as spaces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/splitting/bert_properties.hpp"
#include "spmcompat/splitting/nfc_properties.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

// The options of the normalizer (bert.py).
struct BertOptions {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  bool strip_accents = true;
  bool lowercase = true;
};

// Returns the classes of the characters that are treated specially. All others are only copied.
inline uint8_t special_classes(const BertOptions& options) {
  uint8_t classes = kBertWhite | kBertPunctuation;
  if (options.clean_text) classes |= kBertControl;
  if (options.handle_chinese_chars) classes |= kBertChinese;
  if (options.strip_accents) classes |= kBertAccent | kBertNonstarter | kBertDecomposed;
  if (options.lowercase) classes |= kBertCapital;
  return classes;
}

// Makes the words from the characters of a text, and calls function(word) for each.
template <typename Function>
class BertWords {
 public:
  BertWords(const BertOptions& options, Function function)
      : special_(special_classes(options)), function_(std::move(function)) {}

  void add(char32_t c) {
    const uint8_t found = bert_class(c) & special_;
    if (found == 0) return append(c);
    if (found & kBertControl) return;
    if (found & kBertWhite) return end_word();
    if (found & kBertChinese) end_word();
    if (found & kBertDecomposed) {
      for_each_decomposed(c, [this](char32_t part) { add_part(part); });
    } else {
      add_part(c);
    }
    if (found & kBertChinese) end_word();
  }

  void end_word() {
    append_nonstarters();
    if (!word_.empty()) function_(std::string_view(word_));
    word_.clear();
  }

 private:
  // Adds a character that is not decomposed, unless it is an accent.
  void add_part(char32_t c) {
    const uint8_t found = bert_class(c) & special_;
    if (found & kBertAccent) {
      if (!(found & kBertNonstarter)) append_nonstarters();
      return;
    }
    if (found & kBertNonstarter) return nonstarters_.push_back(c);
    if (found & kBertCapital) {
      return for_each_lowercase(c, [this](char32_t small) { append(small); });
    }
    if (found & kBertPunctuation) end_word();
    append(c);
    if (found & kBertPunctuation) end_word();
  }

  void append(char32_t c) {
    append_nonstarters();
    append_utf8(c, word_);
  }

  // Appends the nonstarters after the last character, in their order.
  void append_nonstarters() {
    if (nonstarters_.empty()) return;
    std::stable_sort(nonstarters_.begin(), nonstarters_.end(), [](char32_t left, char32_t right) {
      return nonstarter_rank(left) < nonstarter_rank(right);
    });
    for (const char32_t c : nonstarters_) append_utf8(c, word_);
    nonstarters_.clear();
  }

  uint8_t special_;
  Function function_;
  std::string word_;
  std::vector<char32_t> nonstarters_;  // those after the last character, unless they are removed
};

// Calls function(word) for every word of a well-formed text. The word is valid until the function
// returns.
template <typename Function>
void for_each_bert_word(std::string_view text, const BertOptions& options, Function function) {
  BertWords<Function> words(options, std::move(function));
  const char* end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    char32_t c;
    at += read_utf8(at, &c);
    words.add(c);
  }
  words.end_word();
}

// Calls function(part) for parts of a well-formed text. The words of the parts, one after another,
// are the words of the text. The text is cut where a word ends whatever the other characters are:
// around white space, which is left out, punctuation and Chinese characters.
//
// To cut the words again would not be the same: without the accent U+034F, the nonstarters before
// and after it get another order.
template <typename Function>
void for_each_bert_part(std::string_view text, const BertOptions& options, Function function) {
  const uint8_t special = special_classes(options);
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto end_part = [&](const char* at) {
    if (at > begin) function(std::string_view(begin, at - begin));
    begin = at;
  };
  for (const char* at = begin; at < end;) {
    char32_t c;
    const size_t size = read_utf8(at, &c);
    const uint8_t found = bert_class(c) & special;
    if (found & (kBertWhite | kBertPunctuation | kBertChinese) && !(found & kBertControl)) {
      end_part(at);
      if (found & kBertWhite) {
        begin = at + size;
      } else {
        end_part(at + size);
      }
    }
    at += size;
  }
  end_part(end);
}

// Returns the words of a well-formed text.
inline std::vector<std::string> bert_words_of(std::string_view text, const BertOptions& options) {
  std::vector<std::string> words;
  for_each_bert_word(text, options, [&words](std::string_view word) { words.emplace_back(word); });
  return words;
}

// Returns the parts of a well-formed text.
inline std::vector<std::string_view> bert_parts_of(std::string_view text,
                                                   const BertOptions& options) {
  std::vector<std::string_view> parts;
  for_each_bert_part(text, options, [&parts](std::string_view part) { parts.push_back(part); });
  return parts;
}

}  // namespace spmcompat
