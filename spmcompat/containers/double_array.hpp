// A map from byte strings to numbers, as a double array in the format of darts-clone.
//
// A model stores its normalization rules in this format. The bytes must equal those of the
// reference, so the position of every unit matters. The array is built in two phases:
//
// 1. The keys are added, in their order, to an acyclic automaton that is kept minimal: states with
//    equal outgoing arcs (and equal values) are merged into one state. A state that results from a
//    merge is marked, and only marked states are reused in phase 2.
// 2. The states are laid out depth-first: each state before the states to which its arcs lead, and
//    those in the order of the arcs' labels. Each state gets a base, and no two states have the
//    same base. The arc with label c leads from the state to unit (base XOR c). The base is chosen
//    so that the first arc leads to the lowest possible free unit, and all other arcs also lead to
//    free units. Units are allocated in blocks of 256, and only the last 16 blocks are open. When a
//    block is closed, its free units are filled with labels that no arc can match.
//
// A unit has 32 bits. It describes the arc that leads to it, and the state at the end of the arc:
// bits 0-7 are the label of the arc, and bit 8 is set if the state has a value. Bits 10-30 are the
// distance (number of the unit XOR base of the state) or, if bit 9 is set, the distance divided by
// 256. A unit that contains a value differs: bit 31 is set, and the other bits are the value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace spmcompat {

namespace double_array {

constexpr uint32_t kIsValue = 1u << 31;
constexpr uint32_t kHasValue = 1u << 8;
constexpr uint32_t kWide = 1u << 9;
constexpr uint32_t kLowBits = 0xff;
constexpr uint32_t kWideBits = 0xffu << 21;
constexpr uint32_t kBlock = 256;
constexpr uint32_t kOpenBlocks = 16;

// A unit can store a distance that has at most 21 bits or is a multiple of 256.
inline bool can_store(uint32_t distance) {
  return (distance & kLowBits) == 0 || (distance & kWideBits) == 0;
}

inline uint32_t store(uint32_t distance) {
  if (distance >= 1u << 29) throw std::length_error("too many normalization rules");
  return distance < 1u << 21 ? distance << 10 : (distance << 2) | kWide;
}

// An arc of the automaton that phase 1 builds. State 0 is not used.
struct Arc {
  uint8_t label;    // 0: the end of a key
  uint32_t target;  // a state, or the value of the key
  bool operator<(const Arc& other) const {
    return label != other.label ? label < other.label : target < other.target;
  }
};

struct Automaton {
  std::vector<std::vector<Arc>> states{{}};
  std::vector<bool> met_again{false};
  uint32_t root = 0;
};

// Builds the automaton. The states along the latest key are open. When a key is added that does not
// pass through an open state, the state is closed, and merged with an equal state if there is one.
class AutomatonBuilder {
 public:
  AutomatonBuilder() : open_(1) {}

  void add(const std::string& key, uint32_t value) {
    size_t common = 0;
    while (common < key.size() && common < last_.size() && key[common] == last_[common]) ++common;
    if (common == key.size() && common == last_.size()) return;  // add only the first of equal keys
    close_below(common);
    for (size_t i = common; i < key.size(); ++i) {
      open_.back().push_back({static_cast<uint8_t>(key[i]), 0});
      open_.emplace_back();
    }
    open_.back().push_back({0, value});
    last_ = key;
  }

  Automaton finish() {
    close_below(0);
    result_.root = merge(std::move(open_.back()));
    return std::move(result_);
  }

 private:
  void close_below(size_t depth) {
    while (open_.size() > depth + 1) {
      const uint32_t state = merge(std::move(open_.back()));
      open_.pop_back();
      open_.back().back().target = state;
    }
  }

  uint32_t merge(std::vector<Arc>&& arcs) {
    const uint32_t fresh = static_cast<uint32_t>(result_.states.size());
    const auto [found, inserted] = known_.emplace(arcs, fresh);
    if (inserted) {
      result_.states.push_back(std::move(arcs));
      result_.met_again.push_back(false);
    } else {
      result_.met_again[found->second] = true;
    }
    return found->second;
  }

  Automaton result_;
  std::map<std::vector<Arc>, uint32_t> known_;
  std::vector<std::vector<Arc>> open_;
  std::string last_;
};

// Phase 2: gives each state a base, and lays out its arcs in the array.
class Layout {
 public:
  explicit Layout(const Automaton& automaton)
      : automaton_(automaton), base_of_(automaton.states.size(), 0) {}

  std::vector<uint32_t> run() {
    add_block();
    take(0);
    has_base_[0] = true;
    std::vector<Task> tasks{{automaton_.root, 0}};
    while (!tasks.empty()) {
      const Task task = tasks.back();
      tasks.pop_back();
      if (automaton_.met_again[task.state] && reuse(task)) continue;
      const uint32_t base = lay_out(task);
      base_of_[task.state] = base;
      const std::vector<Arc>& arcs = automaton_.states[task.state];
      for (auto arc = arcs.rbegin(); arc != arcs.rend(); ++arc) {
        if (arc->label != 0) tasks.push_back({arc->target, base ^ arc->label});
      }
    }
    while (first_open_ < units_.size()) close_block();
    return std::move(units_);
  }

 private:
  struct Task {
    uint32_t state;
    uint32_t unit;
  };

  bool reuse(const Task& task) {
    const uint32_t base = base_of_[task.state];
    if (base == 0 || !can_store(base ^ task.unit)) return false;
    point(task, base);
    return true;
  }

  uint32_t lay_out(const Task& task) {
    const std::vector<Arc>& arcs = automaton_.states[task.state];
    const uint32_t base = find_base(task.unit, arcs);
    point(task, base);
    for (const Arc& arc : arcs) {
      const uint32_t unit = base ^ arc.label;
      take(unit);
      units_[unit] = arc.label == 0 ? kIsValue | arc.target : arc.label;
    }
    has_base_[base] = true;
    return base;
  }

  void point(const Task& task, uint32_t base) {
    const bool has_value = automaton_.states[task.state][0].label == 0;
    units_[task.unit] |= (has_value ? kHasValue : 0) | store(task.unit ^ base);
  }

  uint32_t find_base(uint32_t parent, const std::vector<Arc>& arcs) {
    for (size_t word = first_open_ / 64; word < free_.size(); ++word) {
      for (uint64_t bits = free_[word]; bits != 0; bits &= bits - 1) {
        const uint32_t unit = static_cast<uint32_t>(word * 64 + __builtin_ctzll(bits));
        const uint32_t base = unit ^ arcs[0].label;
        if (!has_base_[base] && can_store(parent ^ base) && all_free(base, arcs)) return base;
      }
    }
    const uint32_t end = static_cast<uint32_t>(units_.size());
    add_block();
    return end | (parent & kLowBits);
  }

  bool all_free(uint32_t base, const std::vector<Arc>& arcs) const {
    for (const Arc& arc : arcs) {
      if (!is_free(base ^ arc.label)) return false;
    }
    return true;
  }

  bool is_free(uint32_t unit) const { return (free_[unit / 64] >> (unit % 64)) & 1; }
  void take(uint32_t unit) { free_[unit / 64] &= ~(uint64_t{1} << (unit % 64)); }

  void add_block() {
    if (units_.size() - first_open_ == kBlock * kOpenBlocks) close_block();
    units_.resize(units_.size() + kBlock, 0);
    has_base_.resize(units_.size(), false);
    free_.resize(units_.size() / 64, ~uint64_t{0});
  }

  // Gives each free unit the label (unit XOR base), with a base that no state has. So no look-up
  // can follow an arc to a free unit.
  void close_block() {
    const uint32_t begin = first_open_;
    first_open_ += kBlock;
    uint32_t unused = begin;
    while (unused < first_open_ && has_base_[unused]) ++unused;
    if (unused == first_open_) unused = 0;
    for (uint32_t unit = begin; unit < first_open_; ++unit) {
      if (is_free(unit)) {
        take(unit);
        units_[unit] = (unit ^ unused) & kLowBits;
      }
    }
  }

  const Automaton& automaton_;
  std::vector<uint32_t> base_of_;  // for each state: its base, or 0 if it is not laid out yet
  std::vector<uint32_t> units_;
  std::vector<uint64_t> free_;  // one bit for each unit, which is set if the unit is free
  std::vector<bool> has_base_;  // for each unit: whether it is the base of a state
  uint32_t first_open_ = 0;
};

}  // namespace double_array

class DoubleArray {
 public:
  struct Match {
    size_t length = 0;  // 0: no key matches
    uint32_t value = 0;
  };

  DoubleArray() = default;
  explicit DoubleArray(std::vector<uint32_t> units) : units_(std::move(units)) {}

  // The keys must be sorted and not empty, and must not contain the byte 0. Of equal keys, the
  // first one is kept.
  static DoubleArray build(const std::vector<std::pair<std::string, uint32_t>>& keys) {
    double_array::AutomatonBuilder builder;
    for (const auto& [key, value] : keys) builder.add(key, value);
    return DoubleArray(double_array::Layout(builder.finish()).run());
  }

  const std::vector<uint32_t>& units() const { return units_; }
  bool empty() const { return units_.empty(); }

  // Returns the base of the root. A state is identified by its base.
  uint32_t root() const { return distance(units_[0]); }

  // Follows the arc with this label from the state with this base, and sets `base` and `is_key` for
  // the state that it leads to. Returns false if there is no such arc.
  bool step(uint32_t* base, uint8_t label, bool* is_key) const {
    const uint32_t position = *base ^ label;
    const uint32_t unit = units_[position];
    if ((unit & (double_array::kIsValue | double_array::kLowBits)) != label) return false;
    *base = position ^ distance(unit);
    *is_key = unit & double_array::kHasValue;
    return true;
  }

  // Calls function(from, label, to) for every arc, and also for unused units, where `from` is a
  // base that no state has.
  template <typename Function>
  void for_each_arc(Function function) const {
    for (uint32_t position = 0; position < units_.size(); ++position) {
      const uint32_t unit = units_[position];
      if (unit & double_array::kIsValue) continue;
      const uint8_t label = unit & double_array::kLowBits;
      function(position ^ label, label, position ^ distance(unit));
    }
  }

  // Whether a key contains this byte. The search begins at the few states that have an arc for this
  // byte, and goes back to the root.
  bool any_key_contains(uint8_t byte) const {
    if (empty()) return false;
    std::vector<bool> leads_there(units_.size(), false);
    // A pass over all arcs marks the states from which the byte can be reached. It may visit an arc
    // before it marks the state that the arc leads to, so passes are repeated until one marks no
    // new state.
    for (bool grows = true; grows;) {
      grows = false;
      for_each_arc([&](uint32_t from, uint8_t label, uint32_t to) {
        if (leads_there[from] || (label != byte && !leads_there[to])) return;
        leads_there[from] = grows = true;
      });
    }
    return leads_there[root()];
  }

  // Returns the value of a state for which `step` set is_key.
  uint32_t value(uint32_t base) const { return units_[base] & ~double_array::kIsValue; }

  // Calls function(length, value) for all keys that are prefixes of the text, shortest first.
  template <typename Function>
  void for_each_prefix(const char* at, const char* end, Function function) const {
    if (empty()) return;
    uint32_t base = root();
    bool is_key;
    for (const char* p = at; p < end && step(&base, static_cast<uint8_t>(*p), &is_key); ++p) {
      if (is_key) function(static_cast<size_t>(p + 1 - at), value(base));
    }
  }

  // Returns the longest of the `limit` shortest keys that are prefixes of the text.
  Match longest_prefix(const char* at, const char* end, size_t limit) const {
    Match match;
    for_each_prefix(at, end, [&](size_t length, uint32_t value) {
      if (limit == 0) return;
      match = {length, value};
      --limit;
    });
    return match;
  }

  // Whether no look-up can leave the array and every value is below `value_limit`. Must be called
  // for every array from a file.
  bool is_sound(size_t value_limit) const {
    using namespace double_array;
    if (empty() || (units_[0] & (kIsValue | kLowBits | kHasValue)) != 0 || root() == 0) {
      return false;
    }
    for (size_t i = 0; i < units_.size(); ++i) {
      const uint32_t unit = units_[i];
      if (unit & kIsValue) {
        if ((unit & ~kIsValue) >= value_limit) return false;
        continue;
      }
      const size_t base = i ^ distance(unit);
      if ((base | kLowBits) >= units_.size()) return false;
      if ((unit & kHasValue) && !(units_[base] & kIsValue)) return false;
    }
    return true;
  }

 private:
  static uint32_t distance(uint32_t unit) {
    return (unit >> 10) << ((unit & double_array::kWide) >> 6);
  }

  std::vector<uint32_t> units_;
};

}  // namespace spmcompat
