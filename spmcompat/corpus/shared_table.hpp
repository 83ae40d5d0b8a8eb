// Distinct byte strings and what is summed up for each: a table that workers share.
//
// Strings are divided by their hash into shards, each with a lock of its own. A string's id
// tells its shard and its place there. Places depend on which worker comes first, so no
// result may depend on ids.
#pragma once

#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "string_table.hpp"

namespace spmcompat {

// A Use is default constructed for nothing, and has add(const Use&).
template <typename Use>
class SharedTable {
 public:
  static constexpr uint32_t kMaxId = 0x7fffffffu;

  // 2^shard_bits shards. With `copies` unset the strings must outlive the table.
  explicit SharedTable(unsigned shard_bits, bool copies = true)
      : bits_(shard_bits), copies_(copies), shards_(size_t{1} << shard_bits) {}

  uint32_t shards() const { return static_cast<uint32_t>(shards_.size()); }
  uint32_t size(uint32_t shard) const { return shards_[shard].strings.size(); }
  uint32_t id(uint32_t shard, uint32_t place) const { return place << bits_ | shard; }
  uint32_t shard_of(uint32_t id) const { return id & (shards() - 1); }
  uint32_t place_of(uint32_t id) const { return id >> bits_; }

  // Workers may call these two at the same time.
  uint32_t add(std::string_view string, const Use& use) {
    const uint32_t hash = hash_bytes(string.data(), string.size());
    const uint32_t number = static_cast<uint32_t>(uint64_t{hash} >> (32 - bits_));
    Shard& shard = shards_[number];
    const std::lock_guard<std::mutex> lock(shard.mutex);
    const uint32_t place = copies_ ? shard.strings.add(string, hash)
                                   : shard.strings.add_lasting(string, hash);
    if (place == shard.uses.size()) {
      if (place > kMaxId >> bits_) throw std::length_error("too many distinct words");
      shard.uses.emplace_back();
    }
    shard.uses[place].add(use);
    return id(number, place);
  }
  template <typename Function>
  void update(uint32_t id, Function function) {
    Shard& shard = shards_[shard_of(id)];
    const std::lock_guard<std::mutex> lock(shard.mutex);
    function(shard.uses[place_of(id)]);
  }

  // While nobody adds strings.
  std::string_view operator[](uint32_t id) const {
    return shards_[shard_of(id)].strings[place_of(id)];
  }
  const Use& use(uint32_t id) const { return shards_[shard_of(id)].uses[place_of(id)]; }

  // Frees what only add needs.
  void drop_index() {
    for (Shard& shard : shards_) shard.strings.drop_index();
  }
  void drop_uses() {
    for (Shard& shard : shards_) std::vector<Use>().swap(shard.uses);
  }

 private:
  struct Shard {
    std::mutex mutex;
    StringTable strings;
    std::vector<Use> uses;
  };

  unsigned bits_;
  bool copies_;
  std::vector<Shard> shards_;
};

}  // namespace spmcompat
