// Pre-tokenization by script: cuts a text into runs of one script and one class of general
// categories.
//
// The classes are: letters and marks; punctuation and symbols; separators; numbers; everything
// else. A single space belongs to the run after it if that run consists of letters of a script that
// puts spaces between words, or of punctuation and symbols of the script Common. Inherited
// characters belong to the run before them, and do not end it. Hiragana counts as Han. This is the
// "SCRIPT" pre-tokenization of Land and Pinter.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "spmcompat/unicode/category_ranges.hpp"
#include "spmcompat/unicode/marks.hpp"
#include "spmcompat/unicode/scripts.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

class ScriptRuns {
 public:
  ScriptRuns() {
    // One letter of each script that puts spaces between words.
    for (const char32_t letter : U"aاअ가አаαאঅܐଅஅఅਅઅඅഅԱಅა") joins_space_[script_of(letter)] = true;
    joins_space_[kScriptCommon] = false;  // the loop also visits the zero that ends the string
    categories_.fill(kCategoryOther);
    for (const CategoryRange& range : kCategoryRanges) {
      for (char32_t c = range.first; c <= range.last && c < categories_.size(); ++c) {
        categories_[c] = range.category;
      }
    }
  }

  // Sets `out` to the text with a boundary mark between every two runs.
  void mark(std::string_view text, char32_t boundary, std::string& out) const {
    out.clear();
    Kind run{};
    bool lone_space = false;  // whether the current run consists of a single space so far
    for_each_character(text, [&](char32_t c) {
      const Kind kind = kind_of(c);
      const bool inherited = kind.script == kScriptInherited;
      const bool continues = inherited || kind == run || (lone_space && joins_space(kind));
      const bool begins = out.empty() || !continues;
      if (begins && !out.empty()) out.push_back(static_cast<char>(boundary));
      if (begins || !inherited) run = kind;
      lone_space = begins && c == kSpaceMark;
      append_utf8(c, out);
    });
  }

  // Whether a run may extend beyond this text, which is the normalized text of a raw token. This is
  // possible if the text contains a separator other than a space, because separators and spaces
  // form one run. It is also possible if the text begins with an Inherited character, or has one
  // after a space, because such a character belongs to the run of the space.
  bool reaches_out(std::string_view text) const {
    bool reaches = false, after_space = true;
    for_each_character(text, [&](char32_t c) {
      const Kind kind = kind_of(c);
      reaches |= after_space && kind.script == kScriptInherited;
      after_space = c == U' ';
      reaches |= !after_space && kind.category == kCategorySeparator;
    });
    return reaches;
  }

 private:
  struct Kind {
    int script;
    int category;
    bool operator==(const Kind& other) const {
      return script == other.script && category == other.category;
    }
  };

  Kind kind_of(char32_t c) const {
    switch (c) {
      case kSpaceMark:
      case U'\t':
      case U'\n': return {kScriptCommon, kCategorySeparator};
      case 0x30fc:  // U+30FC and U+FF70 prolong the vowel of the kana before them
      case 0xff70: return {kScriptInherited, kCategoryLetter};
      case 0x0640:  // the tatweel, which stretches the Arabic letter before it
        return {script_of(U'ا'), kCategoryLetter};
    }
    const int script = script_of(c);
    const int category = category_of(c);
    const bool hiragana = script == kScriptHiragana && category == kCategoryLetter;
    return {hiragana ? kScriptHan : script, category};
  }

  int category_of(char32_t c) const {
    if (c < categories_.size()) return categories_[c];
    const CategoryRange* range =
        std::lower_bound(std::begin(kCategoryRanges), std::end(kCategoryRanges), c,
                         [](const CategoryRange& r, char32_t value) { return r.last < value; });
    const bool found = range != std::end(kCategoryRanges) && range->first <= c;
    return found ? range->category : kCategoryOther;
  }

  bool joins_space(const Kind& kind) const {
    if (kind.script == kScriptCommon) return kind.category == kCategorySymbol;
    return kind.category == kCategoryLetter && joins_space_[kind.script];
  }

  std::array<bool, 256> joins_space_{};
  std::array<uint8_t, 0x10000> categories_;
};

}  // namespace spmcompat
