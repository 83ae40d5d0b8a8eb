// The distinct words of the corpus, and what stands behind them: a table that workers share.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/containers/shared_table.hpp"
#include "spmcompat/containers/string_table.hpp"

namespace spmcompat {

constexpr uint32_t kNoWord = 0xffffffffu;

// What stands behind a word: the next character of the sentence, or the end of
// the sentence and the first character of the next one, or the end of the text.
constexpr uint32_t kSentenceEnd = 0x80000000u;
constexpr uint32_t kTextEnd = 0xffffffffu;

struct Context {
  uint32_t word;
  uint32_t next;
  uint64_t count;
};

// A table of (word, next character) pairs and their counts.
class ContextTable {
 public:
  void add(uint32_t word, uint32_t next, uint64_t count) {
    if ((used_ + 1) * 3 > slots_.size() * 2) grow();
    Context& slot = probe(word, next);
    if (slot.word == kNoWord) {
      slot = {word, next, 0};
      ++used_;
    }
    slot.count += count;
  }
  template <typename Function>
  void for_each(Function function) const {
    for (const Context& slot : slots_) {
      if (slot.word != kNoWord) function(slot);
    }
  }
  // The function may change the count.
  template <typename Function>
  void for_each(Function function) {
    for (Context& slot : slots_) {
      if (slot.word != kNoWord) function(slot);
    }
  }

 private:
  Context& probe(uint32_t word, uint32_t next) {
    size_t i = mix((static_cast<uint64_t>(word) << 32) | next) & (slots_.size() - 1);
    while (slots_[i].word != kNoWord && (slots_[i].word != word || slots_[i].next != next)) {
      i = (i + 1) & (slots_.size() - 1);
    }
    return slots_[i];
  }
  void grow() {
    std::vector<Context> old(slots_.empty() ? 1024 : slots_.size() * 2, Context{kNoWord, 0, 0});
    old.swap(slots_);
    for (const Context& slot : old) {
      if (slot.word != kNoWord) probe(slot.word, slot.next) = slot;
    }
  }

  std::vector<Context> slots_;
  size_t used_ = 0;
};

// How often a word stands before one that begins with a space mark, in its sentence or at its
// end. Where all sentences begin with a space mark, that is nearly always.
struct WordUse {
  uint64_t inner = 0;
  uint64_t last = 0;

  void add(const WordUse& other) {
    inner += other.inner;
    last += other.last;
  }
};

class WordTable : public SharedTable<WordUse> {
 public:
  explicit WordTable(unsigned shard_bits)
      : SharedTable(shard_bits), contexts_(size_t{1} << shard_bits) {}

  // Workers may call this at the same time, and may add words meanwhile.
  void count(uint32_t word, uint32_t next, uint64_t count) {
    if (next == kSpaceMark) {
      update(word, [count](WordUse& use) { use.inner += count; });
    } else if (next == (kSentenceEnd | kSpaceMark)) {
      update(word, [count](WordUse& use) { use.last += count; });
    } else {
      Contexts& contexts = contexts_[shard_of(word)];
      contexts.lock.hold([&] { contexts.table.add(word, next, count); });
    }
  }

  // All that a WordUse does not tell.
  template <typename Function>
  void for_each_context(uint32_t shard, Function function) const {
    contexts_[shard].table.for_each(function);
  }

  // The function may change the count.
  template <typename Function>
  void for_each_context(uint32_t shard, Function function) {
    contexts_[shard].table.for_each(function);
  }

  // How often each word of a shard stands in the corpus, by place.
  std::vector<uint64_t> totals(uint32_t shard) const {
    std::vector<uint64_t> totals(size(shard));
    for (uint32_t place = 0; place < totals.size(); ++place) {
      const WordUse& word = use(id(shard, place));
      totals[place] = word.inner + word.last;
    }
    for_each_context(shard, [&](const Context& c) { totals[place_of(c.word)] += c.count; });
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
