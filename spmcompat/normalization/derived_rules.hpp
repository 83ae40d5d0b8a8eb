// Rules that are derived from predefined ones: without accents, and with marks for capitals.
//
// They are derived at run time, because the predefined rules differ between releases.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "spmcompat/normalization/charsmap.hpp"
#include "spmcompat/unicode/marks.hpp"

namespace spmcompat {

// Adds the removal of accents to predefined rules. A rule that composes a letter and accents, such
// as e + U+0301 -> é, shows that é without its accent is e. Each accent gets a rule that deletes
// it. So all accents after a letter are deleted, whatever their number and order.
class AccentStripper {
 public:
  AccentStripper(Rules from, const std::set<uint32_t>& accents)
      : from_(std::move(from)), accents_(accents) {
    for (const auto& [source, target] : from_) {
      if (target.size() == 1 && source.size() > 1 && !is_accent(source[0]) &&
          std::all_of(source.begin() + 1, source.end(), [&](uint32_t c) { return is_accent(c); })) {
        letters_.emplace(target[0], source[0]);
      }
    }
  }

  std::string stripped() const {
    Rules result;
    for (const auto& [accented, letter] : letters_)
      result[{accented}] = without_accents({accented});
    for (const uint32_t accent : accents_) result[{accent}] = {};
    for (const auto& [source, target] : from_) {
      if (std::none_of(source.begin(), source.end(), [&](uint32_t c) { return is_accent(c); })) {
        result[source] = without_accents(target);
      }
    }
    return compile_charsmap(result, false);
  }

 private:
  bool is_accent(uint32_t c) const { return accents_.count(c) > 0; }

  Chars without_accents(const Chars& text) const {
    Chars result;
    for (const uint32_t c : text) append(c, result);
    return result;
  }

  // Appends what remains of a character without its accents.
  void append(uint32_t c, Chars& result) const {
    if (is_accent(c)) return;
    const auto found = letters_.find(c);
    if (found == letters_.end()) {
      result.push_back(c);
      return;
    }
    // The letter may itself have a rule. For example, a rule composes ǻ from U+212B and U+0301,
    // and another rule replaces U+212B with Å.
    const Chars letter{found->second};
    const auto rule = from_.find(letter);
    for (const uint32_t part : rule == from_.end() ? letter : rule->second) append(part, result);
  }

  Rules from_;
  const std::set<uint32_t>& accents_;
  // Maps an accented letter to the first character of the sequence from which a rule composes it.
  std::map<uint32_t, uint32_t> letters_;
};

inline std::string without_accents(std::string_view blob, const std::set<uint32_t>& accents) {
  return AccentStripper(decompile_charsmap(blob), accents).stripped();
}

struct CaseMarking {
  std::string marking;    // replaces each capital with the case mark and its small letter
  std::string restoring;  // restores the capitals in decoded text
};

// `folding` has the same rules as `blob`, but with case folding. A capital is a character that
// `folding` replaces with one character, that `blob` does not replace, and that is not in
// `not_capitals`.
inline CaseMarking mark_case(std::string_view blob, std::string_view folding,
                             const std::set<uint32_t>& not_capitals) {
  const Rules rules = decompile_charsmap(blob);
  std::map<uint32_t, uint32_t> small_letters;  // capital -> small letter
  for (const auto& [from, to] : decompile_charsmap(folding)) {
    if (from.size() == 1 && to.size() == 1 && rules.count(from) == 0 &&
        not_capitals.count(from[0]) == 0) {
      small_letters.emplace(from[0], to[0]);
    }
  }

  Rules marking;
  Rules restoring;
  for (const auto& [source, target] : rules) {
    Chars& marked = marking[source];
    for (const uint32_t c : target) {
      const auto found = small_letters.find(c);
      if (found != small_letters.end()) marked.push_back(kCaseMark);
      marked.push_back(found == small_letters.end() ? c : found->second);
    }
  }
  for (const auto& [capital, small] : small_letters) {
    marking[{capital}] = {kCaseMark, small};
    restoring[{kCaseMark, small}] = {capital};
  }
  // Marking doubles a case mark that the text itself contains. Restoring deletes a case mark that
  // precedes neither a small letter nor another case mark, because such a mark means nothing.
  marking[{kCaseMark}] = {kCaseMark, kCaseMark};
  restoring[{kCaseMark, kCaseMark}] = {kCaseMark};
  restoring[{kCaseMark}] = {};
  return {compile_charsmap(marking, false), compile_charsmap(restoring, false)};
}

}  // namespace spmcompat
