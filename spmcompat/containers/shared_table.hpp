// Distinct byte strings, with a sum for each: a table that workers fill together.
//
// Strings are divided by their hash into shards, and each shard has a lock. The id of a string is
// made of its shard and its index in the shard. The index depends on which worker comes first, so
// no result may depend on ids.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

#include "spmcompat/containers/hash.hpp"
#include "spmcompat/containers/string_table.hpp"

namespace spmcompat {

// For what takes so little that no thread should go to sleep over it.
class SpinLock {
 public:
  bool try_lock() { return !taken_.test_and_set(std::memory_order_acquire); }
  void lock() {
    while (!try_lock()) std::this_thread::yield();
  }
  void unlock() { taken_.clear(std::memory_order_release); }

 private:
  std::atomic_flag taken_ = ATOMIC_FLAG_INIT;
};

// Use is the type of the sums. Default constructed, it is zero; it has add(const Use&).
template <typename Use>
class SharedTable {
 public:
  static constexpr uint32_t kMaxId = 0x7fffffffu;

  // Has 2^shard_bits shards. If `copies` is not set, the strings must outlive the table.
  explicit SharedTable(unsigned shard_bits, bool copies = true)
      : bits_(shard_bits), copies_(copies), shards_(size_t{1} << shard_bits) {}

  uint32_t shards() const { return static_cast<uint32_t>(shards_.size()); }
  uint32_t size(uint32_t shard) const { return shards_[shard].strings.size(); }
  uint32_t id(uint32_t shard, uint32_t place) const { return place << bits_ | shard; }
  uint32_t shard_of(uint32_t id) const { return id & (shards() - 1); }
  uint32_t place_of(uint32_t id) const { return id >> bits_; }

  // Several workers may call these two at the same time.
  uint32_t add(std::string_view string, const Use& use) {
    const uint32_t hash = hash_bytes(string.data(), string.size());
    const uint32_t shard = shard_of_hash(hash);
    const std::lock_guard<SpinLock> guard(shards_[shard].lock);
    return add_locked(shard, string, hash, use);
  }
  template <typename Function>
  void update(uint32_t id, Function function) {
    Shard& shard = shards_[shard_of(id)];
    const std::lock_guard<SpinLock> guard(shard.lock);
    function(shard.uses[place_of(id)]);
  }

  // These must not be called while a worker adds strings.
  std::string_view operator[](uint32_t id) const {
    return shards_[shard_of(id)].strings[place_of(id)];
  }
  const Use& use(uint32_t id) const { return shards_[shard_of(id)].uses[place_of(id)]; }
  void prefetch(uint32_t id) const {
    const Shard& shard = shards_[shard_of(id)];
    shard.strings.prefetch(place_of(id));
    __builtin_prefetch(shard.uses.data() + place_of(id));
  }

  // Frees the index, which only add needs.
  void drop_index() {
    for (Shard& shard : shards_) shard.strings.drop_index();
  }
  void drop_uses() {
    for (Shard& shard : shards_) std::vector<Use>().swap(shard.uses);
  }
  // Frees all but the bytes: views of the strings stay valid.
  void drop_ids() {
    drop_uses();
    for (Shard& shard : shards_) shard.strings.drop_ids();
  }

 private:
  template <typename>
  friend class SharedBatch;

  struct Shard {
    SpinLock lock;
    StringTable strings;
    std::vector<Use> uses;
  };

  uint32_t shard_of_hash(uint32_t hash) const {
    return static_cast<uint32_t>(uint64_t{hash} >> (32 - bits_));
  }
  uint32_t add_locked(uint32_t number, std::string_view string, uint32_t hash, const Use& use) {
    Shard& shard = shards_[number];
    const uint32_t place = copies_ ? shard.strings.add(string, hash)
                                   : shard.strings.add_lasting(string, hash);
    if (place == shard.uses.size()) {
      if (place > kMaxId >> bits_) throw std::length_error("too many distinct words");
      shard.uses.emplace_back();
    }
    shard.uses[place].add(use);
    return id(number, place);
  }

  unsigned bits_;
  bool copies_;
  std::vector<Shard> shards_;
};

// Collects strings by shard and adds them to a table together. A string that is added alone would
// find nothing of its shard in the CPU cache.
template <typename Use>
class SharedBatch {
 public:
  explicit SharedBatch(SharedTable<Use>& table) : table_(table), waiting_(table.shards()) {}

  bool full() const { return size_ >= kFull; }

  // The string must last until flush, which will write its id to ids[place].
  void add(std::string_view string, const Use& use, size_t place) {
    const uint32_t hash = hash_bytes(string.data(), string.size());
    waiting_[table_.shard_of_hash(hash)].push_back({string, hash, place, use});
    ++size_;
  }

  void flush(std::vector<uint32_t>& ids) {
    // Another worker's shard is left for later.
    std::vector<uint32_t> later;
    for (uint32_t shard = 0; shard < waiting_.size(); ++shard) {
      if (table_.shards_[shard].lock.try_lock()) {
        flush_shard(shard, std::adopt_lock, ids);
      } else {
        later.push_back(shard);
      }
    }
    for (const uint32_t shard : later) {
      table_.shards_[shard].lock.lock();
      flush_shard(shard, std::adopt_lock, ids);
    }
    size_ = 0;
  }

 private:
  static constexpr size_t kFull = 1 << 12;

  struct Waiting {
    std::string_view string;
    uint32_t hash;
    size_t place;
    Use use;
  };

  void flush_shard(uint32_t shard, std::adopt_lock_t locked, std::vector<uint32_t>& ids) {
    const std::lock_guard<SpinLock> guard(table_.shards_[shard].lock, locked);
    for (const Waiting& waiting : waiting_[shard]) {
      ids[waiting.place] = table_.add_locked(shard, waiting.string, waiting.hash, waiting.use);
    }
    waiting_[shard].clear();
  }

  SharedTable<Use>& table_;
  std::vector<std::vector<Waiting>> waiting_;
  size_t size_ = 0;
};

}  // namespace spmcompat
