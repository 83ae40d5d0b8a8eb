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
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

// Adds the removal of accents to predefined rules. A rule that composes a letter and accents, such
// as e + U+0301 -> é, shows that é without its accent is e. Each accent gets a rule that deletes
// it. So all accents after a letter are deleted, whatever their number and order.
class AccentStripper {
 public:
  AccentStripper(std::string_view blob, const std::set<uint32_t>& accents)
      : from_(parse_charsmap(blob)), accents_(accents) {
    charsmap::for_each_rule(from_, [&](const std::string& source, uint32_t target) {
      const Chars parts = charsmap::decode(source);
      const Chars composed = charsmap::decode(from_.target(target));
      if (composed.size() == 1 && parts.size() > 1 && !is_accent(parts[0]) &&
          std::all_of(parts.begin() + 1, parts.end(), [&](uint32_t c) { return is_accent(c); })) {
        letters_.emplace(composed[0], parts[0]);
      }
    });
  }

  std::string stripped() const {
    std::map<uint32_t, Chars> left(rest_of_letters());
    charsmap::Builder result;
    charsmap::for_each_rule(from_, [&](const std::string& source, uint32_t target) {
      const Chars parts = charsmap::decode(source);
      if (std::any_of(parts.begin(), parts.end(), [&](uint32_t c) { return is_accent(c); })) return;
      if (parts.size() == 1) left.erase(parts[0]);
      result.add(source, charsmap::encode(without_accents(from_.target(target))));
    });
    for (const auto& [c, rest] : left) result.add(charsmap::encode({c}), charsmap::encode(rest));
    for (const uint32_t accent : accents_) result.add(charsmap::encode({accent}), "");
    return result.build();
  }

 private:
  bool is_accent(uint32_t c) const { return accents_.count(c) > 0; }

  std::map<uint32_t, Chars> rest_of_letters() const {
    std::map<uint32_t, Chars> result;
    for (const auto& [accented, letter] : letters_) append(accented, result[accented]);
    return result;
  }

  Chars without_accents(std::string_view text) const {
    Chars result;
    for (const uint32_t c : charsmap::decode(text)) append(c, result);
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
    const std::string letter = charsmap::encode({found->second});
    const auto rule =
        from_.rules.longest_prefix(letter.data(), letter.data() + letter.size(), kMaxRulesAtOnce);
    const Chars base = charsmap::decode(rule.length > 0 ? from_.target(rule.value) : letter);
    for (const uint32_t part : base) append(part, result);
  }

  Charsmap from_;
  const std::set<uint32_t>& accents_;
  // Maps an accented letter to the first character of the sequence from which a rule composes it.
  std::map<uint32_t, uint32_t> letters_;
};

inline std::string without_accents(std::string_view blob, const std::set<uint32_t>& accents) {
  return AccentStripper(blob, accents).stripped();
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
  const Charsmap rules = parse_charsmap(blob);
  std::set<uint32_t> changed;  // characters with a rule of their own
  charsmap::for_each_rule(rules, [&](const std::string& source, uint32_t) {
    const Chars parts = charsmap::decode(source);
    if (parts.size() == 1) changed.insert(parts[0]);
  });
  std::map<uint32_t, uint32_t> small_letters;  // capital -> small letter
  const Charsmap folded = parse_charsmap(folding);
  charsmap::for_each_rule(folded, [&](const std::string& source, uint32_t target) {
    const Chars from = charsmap::decode(source);
    const Chars to = charsmap::decode(folded.target(target));
    if (from.size() == 1 && to.size() == 1 && changed.count(from[0]) == 0 &&
        not_capitals.count(from[0]) == 0) {
      small_letters.emplace(from[0], to[0]);
    }
  });

  const std::string mark = charsmap::encode({kCaseMark});
  charsmap::Builder marking;
  charsmap::Builder restoring;
  charsmap::for_each_rule(rules, [&](const std::string& source, uint32_t target) {
    std::string marked;
    for (const uint32_t c : charsmap::decode(rules.target(target))) {
      const auto found = small_letters.find(c);
      if (found != small_letters.end()) marked += mark;
      append_utf8(found == small_letters.end() ? c : found->second, marked);
    }
    marking.add(source, marked);
  });
  for (const auto& [capital, small] : small_letters) {
    const std::string marked = mark + charsmap::encode({small});
    marking.add(charsmap::encode({capital}), marked);
    restoring.add(marked, charsmap::encode({capital}));
  }
  // Marking doubles a case mark that the text itself contains. Restoring deletes a case mark that
  // precedes neither a small letter nor another case mark, because such a mark means nothing.
  marking.add(mark, mark + mark);
  restoring.add(mark + mark, mark);
  restoring.add(mark, "");
  return {marking.build(), restoring.build()};
}

}  // namespace spmcompat
