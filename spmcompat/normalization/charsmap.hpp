// Normalization rules, and their format in a model (precompiled_charsmap).
//
// The format consists of the size of a double array in bytes (32 bits, little-endian), the array,
// and the targets of the rules, each followed by a 0 byte. The keys of the array are the sources of
// the rules, and the value of a key is the offset of its target. An empty string means no rules.
//
// For an error in the rules, the functions throw std::invalid_argument if sentencepiece returns
// INVALID_ARGUMENT, and std::runtime_error otherwise.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/containers/double_array.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

// The reference considers at most this many matching rules at a position. Rules cannot be compiled
// if this number of them, or more, could match at one position.
constexpr size_t kMaxRulesAtOnce = 32;

using Chars = std::vector<uint32_t>;
using Rules = std::map<Chars, Chars>;

struct Charsmap {
  DoubleArray rules;
  std::string targets;

  // The target at an offset. is_sound has checked that the offset is valid.
  std::string_view target(uint32_t offset) const { return targets.c_str() + offset; }
};

inline Charsmap parse_charsmap(std::string_view blob) {
  Charsmap charsmap;
  if (blob.empty()) return charsmap;
  uint32_t size;
  if (blob.size() <= sizeof size) {
    throw std::runtime_error("Blob for normalization rule is broken.");
  }
  std::memcpy(&size, blob.data(), sizeof size);
  blob.remove_prefix(sizeof size);
  if (size >= blob.size()) {
    throw std::runtime_error("Trie data size exceeds the input blob size.");
  }
  if (size < 1024 || size % 1024 != 0) {
    throw std::runtime_error("Trie data size is not divisible by 1024.");
  }
  if (blob.back() != '\0') {
    throw std::runtime_error("normalized block must be null terminated.");
  }
  std::vector<uint32_t> units(size / sizeof(uint32_t));
  std::memcpy(units.data(), blob.data(), size);
  charsmap.rules = DoubleArray(std::move(units));
  charsmap.targets = blob.substr(size);
  if (!charsmap.rules.is_sound(charsmap.targets.size())) {
    throw std::runtime_error("precompiled_charsmap is invalid.");
  }
  return charsmap;
}

// Whether the source of any rule contains a space (U+0020). If none does, raw tokens can be
// normalized one at a time.
inline bool any_source_has_space(std::string_view blob) {
  return parse_charsmap(blob).rules.any_key_contains(' ');
}

namespace charsmap {

inline std::string encode(const Chars& chars) {
  std::string text;
  for (const uint32_t c : chars) {
    if (c >= 0xd800 && c < 0xe000) {
      throw std::runtime_error(
          "A normalization rule contains a surrogate (U+D800 to U+DFFF), which is not a "
          "character: remove the rule.");
    }
    append_utf8(c, text);
  }
  return text;
}

inline Chars decode(std::string_view text) {
  Chars chars;
  const char* end = text.data() + text.size();
  size_t size;
  for (const char* at = text.data(); at < end; at += size) {
    chars.push_back(decode_utf8(at, end, &size));
  }
  return chars;
}

inline void check_rules(const Rules& rules, bool change_something) {
  if (rules.empty()) {
    throw std::runtime_error("There are no normalization rules: give at least one.");
  }
  if (!change_something) return;
  for (const auto& [source, target] : rules) {
    if (source.empty()) throw std::invalid_argument("Source string cannot be empty.");
    if (source == target) throw std::invalid_argument("Identity conversion is not allowed.");
  }
}

inline void check_overlap(const DoubleArray& array, const std::string& key) {
  size_t count = 0;
  array.for_each_prefix(key.data(), key.data() + key.size(),
                        [&count](size_t, uint32_t) { ++count; });
  if (count >= kMaxRulesAtOnce) {
    throw std::runtime_error(
        "This charmaps contain many shared prefix. The number of shared prefix must be less "
        "than 32: remove some of the rules whose source begins with the source of others.");
  }
}

}  // namespace charsmap

// With `change_something`, a rule is an error if its source is empty or equals its target.
inline std::string compile_charsmap(const Rules& rules, bool change_something = true) {
  charsmap::check_rules(rules, change_something);
  std::map<Chars, uint32_t> offsets;
  for (const auto& rule : rules) offsets.emplace(rule.second, 0);
  std::string targets;
  for (auto& [target, offset] : offsets) {
    offset = static_cast<uint32_t>(targets.size());
    targets += charsmap::encode(target);
    targets += '\0';
  }

  std::vector<std::pair<std::string, uint32_t>> keys;
  for (const auto& [source, target] : rules) {
    keys.emplace_back(charsmap::encode(source), offsets.at(target));
  }
  std::sort(keys.begin(), keys.end());
  for (auto& [key, offset] : keys) {
    key.resize(std::strlen(key.c_str()));  // keys of the reference are C strings, which end at NUL
    if (key.empty()) {
      throw std::runtime_error(
          "failed to insert key: zero-length key: remove the normalization rule whose source "
          "begins with U+0000.");
    }
  }
  const DoubleArray array = DoubleArray::build(keys);
  for (const auto& [key, offset] : keys) charsmap::check_overlap(array, key);
  const uint32_t size = static_cast<uint32_t>(array.units().size() * sizeof(uint32_t));
  std::string blob(reinterpret_cast<const char*>(&size), sizeof size);
  blob.append(reinterpret_cast<const char*>(array.units().data()), size);
  return blob + targets;
}

namespace charsmap {

// Limits of decompilation. Keys with the same ending and target share states of the double array,
// so a small malicious array can contain exponentially many rules. The largest predefined charsmap
// has 226,684 rules.
constexpr size_t kMaxKeySize = 1000;
constexpr size_t kMaxRules = size_t{1} << 20;
constexpr size_t kMaxRuleBytes = size_t{1} << 24;  // the total size of all sources and targets

class Decompiler {
 public:
  explicit Decompiler(const Charsmap& from)
      : from_(from), has_no_rules_(from.rules.units().size()) {}

  // Throws if the charsmap exceeds a limit or its arcs have a cycle.
  Rules rules() {
    if (!from_.rules.empty()) add_rules(from_.rules.root());
    return std::move(rules_);
  }

 private:
  // Adds the rules below a state. A state without rules is visited only once.
  void add_rules(uint32_t base) {
    if (source_.size() > kMaxKeySize) {
      throw std::runtime_error(
          "Max recursion depth exceeded in decompile: a rule has more than 1000 bytes, or its arcs "
          "form a cycle. Take the precompiled_charsmap of a model that you trust.");
    }
    const size_t before = bytes_;
    for (int label = 0; label < 256; ++label) {
      uint32_t next = base;
      bool is_key;
      if (!from_.rules.step(&next, static_cast<uint8_t>(label), &is_key)) continue;
      source_.push_back(static_cast<char>(label));
      if (is_key) add_rule(from_.target(from_.rules.value(next)));
      if (!has_no_rules_[next]) add_rules(next);
      source_.pop_back();
    }
    has_no_rules_[base] = bytes_ == before;
  }

  void add_rule(std::string_view target) {
    bytes_ += source_.size() + target.size();
    if (rules_.size() == kMaxRules || bytes_ > kMaxRuleBytes) {
      throw std::runtime_error(
          "precompiled_charsmap is invalid: it contains more than 1,048,576 rules, or more than "
          "16 MiB of rules. Take the precompiled_charsmap of a model that you trust.");
    }
    rules_[decode(source_)] = decode(target);
  }

  const Charsmap& from_;
  std::vector<bool> has_no_rules_;  // by base: whether no rule is known to be below the state
  std::string source_;              // the labels of the arcs from the root to the current state
  size_t bytes_ = 0;                // the total size of the sources and targets so far
  Rules rules_;
};

}  // namespace charsmap

inline Rules decompile_charsmap(std::string_view blob) {
  const Charsmap from = parse_charsmap(blob);
  return charsmap::Decompiler(from).rules();
}

// Returns the charsmap without the rules whose source contains one of the characters.
inline std::string without_characters(std::string_view blob, const std::set<uint32_t>& characters) {
  Rules left;
  for (auto& [source, target] : decompile_charsmap(blob)) {
    const auto is_left = [&](uint32_t c) { return characters.count(c) == 0; };
    if (std::all_of(source.begin(), source.end(), is_left)) left.emplace(source, target);
  }
  return compile_charsmap(left, false);
}

}  // namespace spmcompat
