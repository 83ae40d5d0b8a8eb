// A table of distinct byte strings with a sum for each. All workers can add to it.
//
// Strings are divided by their hash into shards, and each shard has a lock. The id of a string
// consists of its shard and its index in the shard. The index depends on the order in which the
// workers happen to add strings, so no result may depend on ids.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "spmcompat/containers/hash.hpp"
#include "spmcompat/containers/string_table.hpp"

namespace spmcompat {

// A table that all workers fill has 2^kShardBits shards.
constexpr unsigned kShardBits = 6;

// A lock for operations that are so short that a waiting thread need not sleep.
//
// If an operation throws an exception because memory runs out, the data that the lock protects may
// be incomplete, so no worker may use them again. The lock then stays broken: every worker that
// tries to take it also throws std::bad_alloc.
class SpinLock {
 public:
  // Calls function() while no other thread holds the lock.
  template <typename Function>
  auto hold(Function function) {
    while (!try_take()) std::this_thread::yield();
    return call(function);
  }
  // Calls function() if the lock is free. Returns whether it was free.
  template <typename Function>
  bool try_hold(Function function) {
    if (!try_take()) return false;
    call(function);
    return true;
  }

 private:
  enum State : uint8_t { kFree, kTaken, kBroken };

  bool try_take() {
    const State before = state_.exchange(kTaken, std::memory_order_acquire);
    if (before == kBroken) {
      state_.store(kBroken, std::memory_order_release);
      throw std::bad_alloc();
    }
    return before == kFree;
  }
  template <typename Function>
  auto call(Function& function) {
    // Frees the lock when the function returns. Marks it as broken when the function throws.
    struct Leaving {
      std::atomic<State>& state;
      State left = kBroken;
      ~Leaving() { state.store(left, std::memory_order_release); }
    } leaving{state_};
    if constexpr (std::is_void_v<decltype(function())>) {
      function();
      leaving.left = kFree;
    } else {
      auto result = function();
      leaving.left = kFree;
      return result;
    }
  }

  std::atomic<State> state_{kFree};
};

// `Use` is the type of the sum that the table keeps for each string. It must have a method
// add(const Use&), and a default-constructed `Use` must be zero.
template <typename Use>
class SharedTable {
 public:
  static constexpr uint32_t kMaxId = 0x7fffffffu;

  // Creates 2^shard_bits shards. If `copies` is false, the table does not copy the strings, so the
  // strings must outlive the table.
  explicit SharedTable(unsigned shard_bits, bool copies = true)
      : bits_(shard_bits), copies_(copies), shards_(size_t{1} << shard_bits) {}

  uint32_t shards() const { return static_cast<uint32_t>(shards_.size()); }
  uint32_t size(uint32_t shard) const { return shards_[shard].strings.size(); }
  uint32_t id(uint32_t shard, uint32_t index) const { return index << bits_ | shard; }
  uint32_t shard_of(uint32_t id) const { return id & (shards() - 1); }
  uint32_t index_of(uint32_t id) const { return id >> bits_; }

  // Several workers may call the methods `add` and `update` at the same time.
  uint32_t add(std::string_view string, const Use& use) {
    const uint32_t hash = hash_of(string);
    const uint32_t shard = shard_of_hash(hash);
    return shards_[shard].lock.hold([&] { return add_locked(shard, string, hash, use); });
  }
  template <typename Function>
  void update(uint32_t id, Function function) {
    Shard& shard = shards_[shard_of(id)];
    shard.lock.hold([&] { function(shard.uses[index_of(id)]); });
  }

  // The public methods below must not be called while a worker adds strings.
  std::string_view operator[](uint32_t id) const {
    return shards_[shard_of(id)].strings[index_of(id)];
  }
  const Use& use(uint32_t id) const { return shards_[shard_of(id)].uses[index_of(id)]; }
  void prefetch(uint32_t id) const { shards_[shard_of(id)].strings.prefetch(index_of(id)); }
  void prefetch_use(uint32_t id) const { __builtin_prefetch(&use(id)); }

  // Frees the index of the strings, which only `add` needs.
  void drop_index() {
    for (Shard& shard : shards_) shard.strings.drop_index();
  }
  void drop_uses() {
    for (Shard& shard : shards_) std::vector<Use>().swap(shard.uses);
  }
  // Frees all strings of a shard.
  void drop(uint32_t shard) {
    shards_[shard].strings = StringTable();
    std::vector<Use>().swap(shards_[shard].uses);
  }
  // Frees everything except the bytes of the strings, so that views of the strings stay valid.
  void drop_ids() {
    drop_uses();
    for (Shard& shard : shards_) shard.strings.drop_ids();
  }

 protected:
  static uint32_t hash_of(std::string_view string) {
    return hash_bytes(string.data(), string.size());
  }
  uint32_t shard_of_hash(uint32_t hash) const {
    return static_cast<uint32_t>(uint64_t{hash} >> (32 - bits_));
  }

 private:
  template <typename>
  friend class SharedTableBuffer;

  struct Shard {
    SpinLock lock;
    StringTable strings;
    std::vector<Use> uses;
  };

  uint32_t add_locked(uint32_t number, std::string_view string, uint32_t hash, const Use& use) {
    Shard& shard = shards_[number];
    const uint32_t index =
        copies_ ? shard.strings.add(string, hash) : shard.strings.add_lasting(string, hash);
    if (index == shard.uses.size()) {
      if (index > kMaxId >> bits_) throw std::length_error("too many distinct words");
      shard.uses.emplace_back();
    }
    shard.uses[index].add(use);
    return id(number, index);
  }

  unsigned bits_;
  bool copies_;
  std::vector<Shard> shards_;
};

// Collects strings, and adds them to a table shard by shard. This is faster than adding them one by
// one, because the CPU cache keeps the current shard.
template <typename Use>
class SharedTableBuffer {
 public:
  explicit SharedTableBuffer(SharedTable<Use>& table) : table_(table), waiting_(table.shards()) {}

  bool full() const { return size_ >= kFull; }

  // The string must stay valid until flush() is called, which writes the string's id to ids[index].
  void add(std::string_view string, const Use& use, size_t index) {
    const uint32_t hash = SharedTable<Use>::hash_of(string);
    waiting_[table_.shard_of_hash(hash)].push_back({string, hash, index, use});
    ++size_;
  }

  void flush(std::vector<uint32_t>& ids) {
    // Shards that another worker is using are flushed last.
    std::vector<uint32_t> later;
    for (uint32_t shard = 0; shard < waiting_.size(); ++shard) {
      const bool was_free = table_.shards_[shard].lock.try_hold([&] { flush_locked(shard, ids); });
      if (!was_free) later.push_back(shard);
    }
    for (const uint32_t shard : later) {
      table_.shards_[shard].lock.hold([&] { flush_locked(shard, ids); });
    }
    size_ = 0;
  }

 private:
  static constexpr size_t kFull = 1 << 12;

  struct Waiting {
    std::string_view string;
    uint32_t hash;
    size_t index;
    Use use;
  };

  void flush_locked(uint32_t shard, std::vector<uint32_t>& ids) {
    for (const Waiting& waiting : waiting_[shard]) {
      ids[waiting.index] = table_.add_locked(shard, waiting.string, waiting.hash, waiting.use);
    }
    waiting_[shard].clear();
  }

  SharedTable<Use>& table_;
  std::vector<std::vector<Waiting>> waiting_;
  size_t size_ = 0;
};

}  // namespace spmcompat
