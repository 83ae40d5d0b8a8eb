// An array of numbers that are not initialized, so that the system provides memory only when they
// are written. Shrinking the array returns memory without moving the numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace spmcompat {

template <typename Number>
class UnclearedArray {
  static_assert(std::is_arithmetic_v<Number>);

 public:
  size_t size() const { return size_; }
  Number* data() { return numbers_.get(); }
  const Number* data() const { return numbers_.get(); }
  Number& operator[](size_t i) { return numbers_.get()[i]; }
  Number operator[](size_t i) const { return numbers_.get()[i]; }

  // Changes the number of items. Items that still fit keep their values. Added items are not
  // initialized.
  void resize(size_t size) {
    // Never calls realloc(..., 0): it depends on the implementation whether that frees the memory.
    void* numbers = std::realloc(numbers_.get(), std::max<size_t>(size, 1) * sizeof(Number));
    if (numbers == nullptr) throw std::bad_alloc();
    static_cast<void>(numbers_.release());  // realloc has freed or resized the old array
    numbers_.reset(static_cast<Number*>(numbers));
    size_ = size;
  }

 private:
  struct Free {
    void operator()(Number* numbers) const { std::free(numbers); }
  };

  std::unique_ptr<Number, Free> numbers_;
  size_t size_ = 0;
};

}  // namespace spmcompat
