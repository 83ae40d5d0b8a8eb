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

inline std::string join(const DoubleArray& array, const std::string& targets) {
  const uint32_t size = static_cast<uint32_t>(array.units().size() * sizeof(uint32_t));
  std::string blob(reinterpret_cast<const char*>(&size), sizeof size);
  blob.append(reinterpret_cast<const char*>(array.units().data()), size);
  blob += targets;
  return blob;
}

// `keys` are the sources in ascending order, with the offsets of their targets.
inline std::string build(const std::vector<std::pair<std::string, uint32_t>>& keys,
                         const std::string& targets) {
  const DoubleArray array = DoubleArray::build(keys);
  for (const auto& [key, offset] : keys) check_overlap(array, key);
  return join(array, targets);
}

// Compiles rules in UTF-8. This is faster than `compile_charsmap`, but does not check the rules.
class Builder {
 public:
  // The sources must be distinct.
  void add(std::string source, std::string target) {
    const auto at = targets_.emplace(std::move(target), 0).first;
    rules_.emplace_back(std::move(source), &at->second);
  }

  std::string build() {
    std::string targets;
    for (auto& [target, offset] : targets_) {
      offset = static_cast<uint32_t>(targets.size());
      targets += target;
      targets += '\0';
    }
    std::vector<std::pair<std::string, uint32_t>> keys;
    for (const auto& [source, offset] : rules_) keys.emplace_back(source, *offset);
    std::sort(keys.begin(), keys.end());
    return charsmap::build(keys, targets);
  }

 private:
  std::vector<std::pair<std::string, const uint32_t*>> rules_;
  std::map<std::string, uint32_t> targets_;  // target -> its offset
};

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
  return charsmap::build(keys, targets);
}

namespace charsmap {

// Limits of decompilation. Keys with the same ending and target share states of the double array,
// so a small malicious array can contain exponentially many rules. The largest predefined charsmap
// has 226,684 rules.
constexpr size_t kMaxKeySize = 1000;
constexpr uint64_t kMaxRules = uint64_t{1} << 20;
constexpr uint64_t kMaxRuleBytes = uint64_t{1} << 24;  // the total size of all sources and targets

// Calls function(next, is_key, label) for every arc of a state.
template <typename Function>
void for_each_arc_of(const DoubleArray& array, uint32_t base, Function function) {
  for (int label = 0; label < 256; ++label) {
    uint32_t next = base;
    bool is_key;
    if (array.step(&next, static_cast<uint8_t>(label), &is_key)) function(next, is_key, label);
  }
}

// Counts the rules below every state without decompiling them. Each state is visited once, so the
// time depends on the size of the charsmap and not on the number of rules. Throws if the charsmap
// exceeds a limit or its arcs have a cycle.
class RuleCounts {
 public:
  explicit RuleCounts(const Charsmap& from) : from_(from), states_(from.rules.units().size()) {
    if (!from.rules.empty()) count(from.rules.root(), 0);
  }

  bool has_rules(uint32_t base) const { return states_[base].rules > 0; }

 private:
  struct State {
    uint64_t rules = 0;
    // Bytes of all rules below this state: of their targets, and of their sources from here on.
    uint64_t bytes = 0;
    uint32_t height = 0;  // the number of arcs of the longest path from this state
    bool open = false;    // whether the state is on the current path
    bool done = false;
  };

  const State& count(uint32_t base, size_t depth) {
    State& state = states_[base];
    if (state.open) refuse_depth("its arcs form a cycle");
    if (depth + state.height > kMaxKeySize) refuse_depth("a rule has more than 1000 bytes");
    if (state.done) return state;
    state.open = true;
    for_each_arc_of(from_.rules, base, [&](uint32_t next, bool is_key, int) {
      const State& below = count(next, depth + 1);
      state.height = std::max(state.height, below.height + 1);
      state.rules += below.rules + is_key;
      state.bytes += below.bytes + below.rules + is_key;
      if (is_key) add_target(from_.rules.value(next), state);
      if (state.rules > kMaxRules || state.bytes > kMaxRuleBytes) {
        throw std::runtime_error(
            "precompiled_charsmap is invalid: it contains more than 1,048,576 rules, or more than "
            "16 MiB of rules. Take the precompiled_charsmap of a model that you trust.");
      }
    });
    state.open = false;
    state.done = true;
    return state;
  }

  // Targets may overlap, so their sizes may add up to more than the size of the charsmap. The limit
  // on `target_bytes_` also limits the time that it takes to measure the targets.
  void add_target(uint32_t offset, State& state) {
    const size_t size = from_.target(offset).size();
    state.bytes += size;
    target_bytes_ += size;
    if (target_bytes_ > kMaxRuleBytes) state.bytes = kMaxRuleBytes + 1;
  }

  [[noreturn]] static void refuse_depth(const char* why) {
    throw std::runtime_error(std::string("Max recursion depth exceeded in decompile: ") + why +
                             ". Take the precompiled_charsmap of a model that you trust.");
  }

  const Charsmap& from_;
  std::vector<State> states_;  // by base
  uint64_t target_bytes_ = 0;  // the total size of the targets of all keys in the array
};

template <typename Function>
void for_each_rule(const Charsmap& from, const RuleCounts& counts, uint32_t base, std::string& key,
                   Function& function) {
  for_each_arc_of(from.rules, base, [&](uint32_t next, bool is_key, int label) {
    key.push_back(static_cast<char>(label));
    if (is_key) function(key, from.rules.value(next));
    if (counts.has_rules(next)) for_each_rule(from, counts, next, key, function);
    key.pop_back();
  });
}

// Calls function(source, offset of its target) for every rule, by ascending source.
template <typename Function>
void for_each_rule(const Charsmap& from, Function function) {
  const RuleCounts counts(from);
  std::string key;
  if (!from.rules.empty()) for_each_rule(from, counts, from.rules.root(), key, function);
}

}  // namespace charsmap

inline Rules decompile_charsmap(std::string_view blob) {
  Rules rules;
  const Charsmap from = parse_charsmap(blob);
  charsmap::for_each_rule(from, [&](const std::string& source, uint32_t target) {
    rules[charsmap::decode(source)] = charsmap::decode(from.target(target));
  });
  return rules;
}

// Returns the charsmap without the rules whose source contains one of the characters.
inline std::string without_characters(std::string_view blob, const std::set<uint32_t>& characters) {
  const Charsmap from = parse_charsmap(blob);
  charsmap::Builder result;
  charsmap::for_each_rule(from, [&](const std::string& source, uint32_t target) {
    for (const uint32_t c : charsmap::decode(source)) {
      if (characters.count(c) > 0) return;
    }
    result.add(source, std::string(from.target(target)));
  });
  return result.build();
}

}  // namespace spmcompat
