// Distinct pretokens and what follows them: a table that workers share.
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "spmcompat/containers/shared_table.hpp"
#include "spmcompat/containers/string_table.hpp"
#include "spmcompat/pretokenization/piece_rule.hpp"

namespace spmcompat {

constexpr uint32_t kNoPretoken = 0xffffffffu;

// What follows a pretoken: the next character of the sentence, or the end of the sentence and
// the first character of the next one, or the end of the text.
constexpr uint32_t kSentenceEnd = 0x80000000u;
constexpr uint32_t kTextEnd = 0xffffffffu;

struct Context {
  uint32_t pretoken;
  uint32_t next;
  uint64_t count;
};

// A table of (pretoken, next character) pairs and their counts.
class ContextTable {
 public:
  void add(uint32_t pretoken, uint32_t next, uint64_t count) {
    if ((used_ + 1) * 3 > slots_.size() * 2) grow();
    Context& slot = probe(pretoken, next);
    if (slot.pretoken == kNoPretoken) {
      slot = {pretoken, next, 0};
      ++used_;
    }
    slot.count += count;
  }
  template <typename Function>
  void for_each(Function function) const {
    for (const Context& slot : slots_) {
      if (slot.pretoken != kNoPretoken) function(slot);
    }
  }
  // The function may change the count.
  template <typename Function>
  void for_each(Function function) {
    for (Context& slot : slots_) {
      if (slot.pretoken != kNoPretoken) function(slot);
    }
  }

 private:
  Context& probe(uint32_t pretoken, uint32_t next) {
    size_t i = mix((static_cast<uint64_t>(pretoken) << 32) | next) & (slots_.size() - 1);
    while (slots_[i].pretoken != kNoPretoken && (slots_[i].pretoken != pretoken || slots_[i].next != next)) {
      i = (i + 1) & (slots_.size() - 1);
    }
    return slots_[i];
  }
  void grow() {
    std::vector<Context> old(slots_.empty() ? 1024 : slots_.size() * 2, Context{kNoPretoken, 0, 0});
    old.swap(slots_);
    for (const Context& slot : old) {
      if (slot.pretoken != kNoPretoken) probe(slot.pretoken, slot.next) = slot;
    }
  }

  std::vector<Context> slots_;
  size_t used_ = 0;
};

// How often a pretoken is followed by one that begins with a space mark, in its sentence or in
// the next one. Where all sentences begin with a space mark, that is nearly always.
struct PretokenUse {
  uint64_t inner = 0;
  uint64_t last = 0;

  void add(const PretokenUse& other) {
    inner += other.inner;
    last += other.last;
  }
};

class PretokenTable : public SharedTable<PretokenUse> {
 public:
  explicit PretokenTable(unsigned shard_bits)
      : SharedTable(shard_bits), contexts_(size_t{1} << shard_bits) {}

  // Workers may call this at the same time, and may add pretokens meanwhile.
  void count(uint32_t pretoken, uint32_t next, uint64_t count) {
    if (next == kSpaceMark) {
      update(pretoken, [count](PretokenUse& use) { use.inner += count; });
    } else if (next == (kSentenceEnd | kSpaceMark)) {
      update(pretoken, [count](PretokenUse& use) { use.last += count; });
    } else {
      Contexts& contexts = contexts_[shard_of(pretoken)];
      const std::lock_guard<SpinLock> guard(contexts.lock);
      contexts.table.add(pretoken, next, count);
    }
  }

  // All that a PretokenUse does not count.
  template <typename Function>
  void for_each_context(uint32_t shard, Function function) const {
    contexts_[shard].table.for_each(function);
  }

  // The function may change the count.
  template <typename Function>
  void for_each_context(uint32_t shard, Function function) {
    contexts_[shard].table.for_each(function);
  }

  // How often each pretoken of a shard occurs, by its index there.
  std::vector<uint64_t> totals(uint32_t shard) const {
    std::vector<uint64_t> totals(size(shard));
    for (uint32_t i = 0; i < totals.size(); ++i) {
      const PretokenUse& known = use(id(shard, i));
      totals[i] = known.inner + known.last;
    }
    for_each_context(shard, [&](const Context& c) { totals[place_of(c.pretoken)] += c.count; });
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
