// Tables of the classes of all characters, in two stages: the block of a character, and its class
// within the block. Derived headers have the classes as letters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

constexpr size_t kBlockSize = 64;

// A sequence of equal blocks in the order of the characters: the number of the block, and how often
// it occurs.
struct BlockRun {
  uint16_t block;
  uint16_t count;
};

// Returns the classes of the characters in all blocks. class_of(letter) is a class.
template <size_t kSize, typename Function>
constexpr auto classes_of(const char (&letters)[kSize], Function class_of) {
  std::array<uint8_t, kSize - 1> classes{};
  for (size_t i = 0; i < classes.size(); ++i) classes[i] = class_of(letters[i]);
  return classes;
}

// Returns the number of the block of each 64 characters.
template <size_t kSize>
constexpr auto block_numbers(const BlockRun (&runs)[kSize]) {
  std::array<uint16_t, kCodePoints / kBlockSize> blocks{};
  size_t filled = 0;
  for (const BlockRun run : runs) {
    for (size_t i = 0; i < run.count; ++i) blocks[filled++] = run.block;
  }
  return blocks;
}

}  // namespace spmcompat
