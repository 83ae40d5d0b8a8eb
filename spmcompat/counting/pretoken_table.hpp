// A table of distinct pretokens and their contexts. All workers share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/containers/hash.hpp"
#include "spmcompat/containers/open_table.hpp"
#include "spmcompat/containers/shared_table.hpp"
#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/unicode/marks.hpp"

namespace spmcompat {

constexpr uint32_t kNoPretoken = 0xffffffffu;

// The code of a context: the next character, if the sentence continues; kSentenceEnd combined with
// the first character of the next sentence, if the pretoken ends its sentence; or kTextEnd, if it
// ends the text.
constexpr uint32_t kSentenceEnd = 0x80000000u;
constexpr uint32_t kTextEnd = 0xffffffffu;

struct ContextCount {
  uint32_t pretoken;
  uint32_t next;
  uint64_t count;
};

// The count of each pair of a pretoken and a context.
class ContextTable {
 public:
  void add(uint32_t pretoken, uint32_t next, uint64_t count) {
    slot_of(pretoken, next).count += count;
  }
  template <typename Function>
  void for_each(Function function) const {
    for (const Slot& slot : table_) {
      if (!slot.is_empty()) function(slot);
    }
  }
  // The memory that the table takes.
  size_t bytes() const { return table_.bytes(); }

 private:
  struct Slot : ContextCount {
    Slot() : ContextCount{kNoPretoken, 0, 0} {}
    Slot(const ContextCount& context) : ContextCount(context) {}

    bool is_empty() const { return pretoken == kNoPretoken; }
    uint32_t hash() const { return hash_pair(pretoken, next); }
  };

  Slot& slot_of(uint32_t pretoken, uint32_t next) {
    const auto matches = [pretoken, next](const Slot& slot) {
      return slot.pretoken == pretoken && slot.next == next;
    };
    Slot& slot = table_.find_or_add(hash_pair(pretoken, next), used_, matches);
    if (slot.is_empty()) {
      slot = ContextCount{pretoken, next, 0};
      ++used_;
    }
    return slot;
  }

  OpenTable<Slot> table_;
  size_t used_ = 0;
};

// How often a pretoken occurs before a space mark. `inner` counts the occurrences before a space
// mark in the same sentence, and `last` those before a space mark that begins the next sentence. If
// all sentences begin with a space mark, these two counts cover nearly all occurrences.
struct PretokenUse {
  uint64_t inner = 0;
  uint64_t last = 0;

  // Whether a context is counted here. Of any other context, `of` counts nothing.
  static bool has(uint32_t next) { return (next & ~kSentenceEnd) == kSpaceMark; }
  static PretokenUse of(uint32_t next, uint64_t count) {
    PretokenUse use;
    if (has(next)) (next & kSentenceEnd ? use.last : use.inner) = count;
    return use;
  }
  void add(const PretokenUse& other) {
    inner += other.inner;
    last += other.last;
  }
};

class PretokenTable : public SharedTable<PretokenUse> {
 public:
  explicit PretokenTable(unsigned shard_bits)
      : SharedTable(shard_bits), contexts_(size_t{1} << shard_bits) {}

  // Several workers may call this at the same time, even while other workers add pretokens.
  void count(uint32_t pretoken, uint32_t next, uint64_t count) {
    if (PretokenUse::has(next)) {
      update(pretoken, [&](PretokenUse& use) { use.add(PretokenUse::of(next, count)); });
    } else {
      Contexts& contexts = contexts_[shard_of(pretoken)];
      contexts.lock.hold([&] { contexts.table.add(pretoken, next, count); });
    }
  }

  // Calls function(context) for all contexts that are not counted in a PretokenUse.
  template <typename Function>
  void for_each_context(uint32_t shard, Function function) const {
    contexts_[shard].table.for_each(function);
  }

  // How often each pretoken of a shard occurs, by its index in the shard.
  std::vector<uint64_t> totals(uint32_t shard) const {
    std::vector<uint64_t> totals(size(shard));
    for (uint32_t i = 0; i < totals.size(); ++i) {
      const PretokenUse& known = use(id(shard, i));
      totals[i] = known.inner + known.last;
    }
    for_each_context(shard,
                     [&](const ContextCount& c) { totals[index_of(c.pretoken)] += c.count; });
    return totals;
  }

 private:
  struct Contexts {
    SpinLock lock;
    ContextTable table;
  };

  std::vector<Contexts> contexts_;
};

}  // namespace spmcompat
