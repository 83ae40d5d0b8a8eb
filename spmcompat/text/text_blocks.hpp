// Memory for the texts of read buffers. Blocks are reused, because the system clears every page of
// a new block.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

namespace spmcompat {

using TextBlock = std::shared_ptr<char>;

class TextBlocks {
 public:
  // `size` is the size of each block in bytes.
  explicit TextBlocks(size_t size) : size_(size), unused_(std::make_shared<Unused>()) {}

  TextBlock take() {
    std::unique_ptr<char[]> block = unused_->take();
    if (block == nullptr) block.reset(new char[size_]);
    return TextBlock(block.release(), [unused = unused_](char* taken) { unused->put(taken); });
  }

 private:
  // The blocks that are not in use. Any thread may return a block to them, even after the
  // TextBlocks object was destroyed.
  class Unused {
   public:
    std::unique_ptr<char[]> take() {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (blocks_.empty()) return nullptr;
      std::unique_ptr<char[]> block = std::move(blocks_.back());
      blocks_.pop_back();
      return block;
    }
    // Takes back a block. Frees it if there is no memory to store its address.
    void put(char* taken) noexcept {
      std::unique_ptr<char[]> block(taken);
      const std::lock_guard<std::mutex> lock(mutex_);
      try {
        blocks_.push_back(std::move(block));
      } catch (const std::bad_alloc&) {
      }
    }

   private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<char[]>> blocks_;
  };

  size_t size_;
  std::shared_ptr<Unused> unused_;
};

// Returns a new block with two concatenated texts.
inline TextBlock joined(std::string_view begin, std::string_view end) {
  TextBlock block(new char[begin.size() + end.size()], std::default_delete<char[]>());
  begin.copy(block.get(), begin.size());
  end.copy(block.get() + begin.size(), end.size());
  return block;
}

}  // namespace spmcompat
