// The Unicode script of a character, from the table of sentencepiece 0.2.3.
//
// When the module is loaded, the ranges of script_ranges.hpp are expanded to an array with one byte
// for each character of the Basic Multilingual Plane. The array has 64 KiB, but most texts need
// only a few of its cache lines. The rare characters outside this plane are looked up in the
// ranges.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "spmcompat/unicode/script_ranges.hpp"

namespace spmcompat {

inline int find_script(char32_t c) {
  const ScriptRange* range =
      std::lower_bound(std::begin(kScriptRanges), std::end(kScriptRanges), c,
                       [](const ScriptRange& r, char32_t value) { return r.last < value; });
  return range != std::end(kScriptRanges) && range->first <= c ? range->script : kScriptCommon;
}

class BasicPlaneScripts {
 public:
  BasicPlaneScripts() {
    scripts_.fill(kScriptCommon);
    for (const ScriptRange& range : kScriptRanges) {
      for (char32_t c = range.first; c <= range.last && c < scripts_.size(); ++c) {
        scripts_[c] = range.script;
      }
    }
  }
  int operator[](char32_t c) const { return scripts_[c]; }

 private:
  std::array<uint8_t, 0x10000> scripts_;
};

inline const BasicPlaneScripts kBasicPlaneScripts;

// A character that is not in the table is Common.
inline int script_of(char32_t c) { return c < 0x10000 ? kBasicPlaneScripts[c] : find_script(c); }

}  // namespace spmcompat
