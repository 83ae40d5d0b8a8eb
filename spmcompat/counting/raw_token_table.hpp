// Distinct raw tokens with their counts.
//
// Counting looks up every raw token of the text in this table, so it must be fast. An entry
// contains the first eight bytes of the token, its size and its counts: most look-ups read one slot
// and one entry, and both can be prefetched. Only texts of more than eight bytes are stored outside
// their entries. Entries are allocated in blocks that never move.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "spmcompat/containers/slot_index.hpp"
#include "spmcompat/counting/raw_tokens.hpp"
#include "spmcompat/counting/sentence_normalizer.hpp"

namespace spmcompat {

// Stores texts and gives each a 32-bit number. Texts begin at multiples of eight bytes, so the
// numbers can address 32 GB.
class AlignedTexts {
 public:
  uint32_t store(const char* text, size_t size) {
    const size_t units = (size + kUnit - 1) / kUnit;
    if (units > left_) begin_block(units);
    const uint32_t at = next_;
    std::memcpy(blocks_[at / kBlockUnits].get() + at % kBlockUnits * kUnit, text, size);
    next_ += units;
    left_ -= units;
    return at;
  }
  const char* operator[](uint32_t at) const {
    return blocks_[at / kBlockUnits].get() + at % kBlockUnits * kUnit;
  }

  // Returns how many bytes of memory the stored texts use.
  size_t bytes() const { return (blocks_.size() - released_) * kBlockUnits * kUnit; }

  // Frees all blocks before the block that contains text number `at`.
  void release_before(uint32_t at) {
    while (released_ < at / kBlockUnits) blocks_[released_++].reset();
  }

 private:
  static constexpr size_t kUnit = 8;
  static constexpr size_t kBlockUnits = 1 << 15;

  // A text that is longer than a block gets its own, longer block. That block takes up as many
  // block numbers as the ordinary blocks that would hold the text.
  void begin_block(size_t units) {
    const size_t blocks = (units + kBlockUnits - 1) / kBlockUnits;
    if (blocks_.size() + blocks > (size_t{1} << 32) / kBlockUnits) {
      throw std::length_error("the distinct raw tokens that one worker reads exceed 32 GB");
    }
    next_ = static_cast<uint32_t>(blocks_.size() * kBlockUnits);
    left_ = blocks > 1 ? units : kBlockUnits;
    blocks_.push_back(std::unique_ptr<char[]>(new char[left_ * kUnit]));
    blocks_.resize(blocks_.size() + blocks - 1);
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t released_ = 0;
  uint32_t next_ = 0;
  size_t left_ = 0;  // free units in the last block
};

struct CountedRawToken {
  std::string_view text;
  uint64_t inner, last;  // occurrences before another raw token, and at the end of a sentence
  RawTokenKind kind;
};

class RawTokenTable {
 public:
  uint32_t size() const { return size_; }
  // Returns how many bytes of memory the table uses.
  size_t bytes() const {
    return texts_.bytes() + blocks_.size() * kBlock * sizeof(Entry) + plain_.capacity() / 8 +
           index_.bytes();
  }
  bool irregular(uint32_t id) const { return (*this)[id].irregular; }
  void set_kind(uint32_t id, RawTokenKind kind) {
    (*this)[id].irregular = kind == RawTokenKind::kIrregular;
    plain_[id] = kind == RawTokenKind::kPlain;
  }

  // Returns the id of a raw token. A new raw token gets the previous size() as its id.
  uint32_t add(const RawToken& token) {
    const uint32_t id = index_.find_or_insert(
        token.hash, size_, [&](uint32_t known) { return equal((*this)[known], token); });
    if (id == size_) append(token);
    return id;
  }
  void prefetch_slot(const RawToken& token) const { index_.prefetch(token.hash); }
  void prefetch_entry(const RawToken& token) const {
    const uint32_t id = index_.first_guess(token.hash);
    if (id < size_) __builtin_prefetch(&(*this)[id]);
  }

  // count_inner counts a raw token that is followed by another one in its sentence; count_last
  // counts one that ends its sentence.
  void count_inner(uint32_t id, uint64_t count) {
    if (const uint64_t carry = add_low((*this)[id].inner, count)) carried_[id].inner += carry;
  }
  void count_last(uint32_t id, uint64_t count) {
    if (const uint64_t carry = add_low((*this)[id].last, count)) carried_[id].last += carry;
  }

  CountedRawToken counted(uint32_t id) const {
    const Entry& entry = (*this)[id];
    uint64_t inner = entry.inner, last = entry.last;
    if (const auto found = carried_.find(id); found != carried_.end()) {
      inner += found->second.inner;
      last += found->second.last;
    }
    const bool is_short = entry.size <= sizeof entry.head;
    const char* text = is_short ? reinterpret_cast<const char*>(&entry.head) : texts_[entry.text];
    const RawTokenKind kind = entry.irregular ? RawTokenKind::kIrregular
                              : plain_[id]    ? RawTokenKind::kPlain
                                              : RawTokenKind::kChanged;
    return {std::string_view(text, entry.size), inner, last, kind};
  }

  // Calls function(raw token) for every raw token, in the order of the ids.
  template <typename Function>
  void for_each(Function function) const {
    for (uint32_t id = 0; id < size_; ++id) function(counted(id));
  }

  // Like for_each, but frees the raw tokens at the same time. The table is empty afterwards.
  template <typename Function>
  void consume(Function function) {
    index_.clear();
    for (uint32_t id = 0; id < size_; ++id) {
      function(counted(id));
      const Entry& entry = (*this)[id];
      if (entry.size > sizeof entry.head) texts_.release_before(entry.text);
      if (id % kBlock == kBlock - 1) blocks_[id / kBlock].reset();
    }
    *this = RawTokenTable();
  }

 private:
  static constexpr size_t kBlock = 1 << 13;

  struct Entry {
    uint64_t head;
    uint32_t text;  // the number of the text in texts_, if it is longer than eight bytes
    uint32_t size : 31;
    uint32_t irregular : 1;
    uint32_t inner, last;  // the low 32 bits of the counts
  };
  struct Counts {
    uint64_t inner = 0, last = 0;
  };

  const Entry& operator[](uint32_t id) const { return blocks_[id / kBlock][id % kBlock]; }
  Entry& operator[](uint32_t id) { return blocks_[id / kBlock][id % kBlock]; }

  bool equal(const Entry& entry, const RawToken& token) const {
    if (entry.head != token.head || entry.size != token.size) return false;
    if (token.size <= 8) return true;
    // The last load may read some of the bytes that the loop has already compared.
    const char* text = texts_[entry.text];
    const size_t last = token.size - 8;
    for (size_t i = 8; i < last; i += 8) {
      if (load<uint64_t>(text + i) != load<uint64_t>(token.text + i)) return false;
    }
    return load<uint64_t>(text + last) == load<uint64_t>(token.text + last);
  }

  void append(const RawToken& token) {
    if (size_ % kBlock == 0) blocks_.push_back(std::unique_ptr<Entry[]>(new Entry[kBlock]));
    const uint32_t text = token.size > 8 ? texts_.store(token.text, token.size) : 0;
    plain_.push_back(false);
    (*this)[size_++] = {token.head, text, token.size, 0, 0, 0};
  }

  // Adds to the low 32 bits of a count. Returns the carry, which is a multiple of 2^32.
  static uint64_t add_low(uint32_t& low, uint64_t count) {
    const uint64_t sum = low + count;
    low = static_cast<uint32_t>(sum);
    return sum - low;
  }

  AlignedTexts texts_;
  std::vector<std::unique_ptr<Entry[]>> blocks_;
  std::vector<bool> plain_;  // for each raw token: whether its kind is kPlain
  SlotIndex index_;
  uint32_t size_ = 0;
  // For raw tokens with a count of 2^32 or more, by id: the counts with the low 32 bits set to 0.
  std::unordered_map<uint32_t, Counts> carried_;
};

}  // namespace spmcompat
