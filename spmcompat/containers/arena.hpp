// Memory for many arrays that never move and are freed together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace spmcompat {

// Allocates at least `kBlock` items at a time.
template <typename Item, size_t kBlock>
class Arena {
 public:
  Item* reserve(size_t size) {
    if (size > left_) {
      const size_t block = std::max(size, kBlock);
      blocks_.push_back(std::unique_ptr<Item[]>(new Item[block]));
      head_ = blocks_.back().get();
      left_ = block;
      bytes_ += block * sizeof(Item);
    }
    Item* reserved = head_;
    head_ += size;
    left_ -= size;
    return reserved;
  }

  // The total size of all blocks in bytes.
  size_t bytes() const { return bytes_; }

 private:
  std::vector<std::unique_ptr<Item[]>> blocks_;
  Item* head_ = nullptr;
  size_t left_ = 0;
  size_t bytes_ = 0;
};

}  // namespace spmcompat
