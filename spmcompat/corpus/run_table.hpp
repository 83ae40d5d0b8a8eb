// Distinct runs of bytes between two spaces, as they stand in the input, with their counts.
//
// This table is looked up once for every word of the corpus, so a run's first eight bytes,
// its size and its counts lie together: most look-ups touch one slot and one entry. Entries
// lie in blocks that never move.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "string_table.hpp"

namespace spmcompat {

struct Run {
  uint64_t head;     // the first eight bytes, zeros behind the end
  const char* text;  // all bytes
  uint32_t size;
  bool irregular;
  uint64_t inner;  // followed by another word of the sentence
  uint64_t last;   // at the end of its sentence

  std::string_view view() const { return std::string_view(text, size); }
};

class RunTable {
 public:
  uint32_t size() const { return size_; }
  Run& operator[](uint32_t id) { return blocks_[id / kBlock][id % kBlock]; }

  // The id of a run that is not empty. A new one has the id that size() was before.
  uint32_t add(const char* text, size_t size) {
    const uint64_t head = head_of(text, size);
    const uint32_t hash =
        size <= 8 ? mix(head ^ size * 0x9e3779b97f4a7c15ULL) : hash_bytes(text, size);
    const uint32_t id = index_.find_or_insert(
        hash, size_, [&](uint32_t known) { return equal((*this)[known], head, text, size); });
    if (id == size_) append(head, text, size);
    return id;
  }

  // Calls function(run) for each in turn, and frees it. The table is empty afterwards.
  template <typename Function>
  void consume(Function function) {
    index_.clear();
    for (uint32_t id = 0; id < size_; ++id) {
      Run& run = (*this)[id];
      function(run);
      arena_.release_before(run.text);
      if (id % kBlock == kBlock - 1) blocks_[id / kBlock].reset();
    }
    *this = RunTable();
  }

 private:
  static constexpr size_t kBlock = 1 << 12;

  // Loads that overlap agree on the bytes they share.
  static uint64_t head_of(const char* text, size_t size) {
    if (size >= 8) return load<uint64_t>(text);
    if (size >= 4) {
      return load<uint32_t>(text) | load<uint32_t>(text + size - 4) << (8 * (size - 4));
    }
    if (size >= 2) {
      return load<uint16_t>(text) | load<uint16_t>(text + size - 2) << (8 * (size - 2));
    }
    return load<uint8_t>(text);
  }

  static bool equal(const Run& run, uint64_t head, const char* text, size_t size) {
    return run.head == head && run.size == size &&
           (size <= 8 || std::memcmp(run.text + 8, text + 8, size - 8) == 0);
  }

  void append(uint64_t head, const char* text, size_t size) {
    if (size_ % kBlock == 0) blocks_.emplace_back(new Run[kBlock]);
    (*this)[size_++] = {head, arena_.store(text, size), static_cast<uint32_t>(size), false, 0, 0};
  }

  Arena arena_;
  std::vector<std::unique_ptr<Run[]>> blocks_;
  SlotIndex index_;
  uint32_t size_ = 0;
};

}  // namespace spmcompat
