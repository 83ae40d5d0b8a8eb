// A heap and a partial sort that order equal elements as the GNU C++ library does.
//
// The C++ standard does not specify which of several equal elements comes first, and libraries
// differ. The reference is built with the GNU C++ library. Some of its results depend on the order
// of equal elements, so this order must be the same with every C++ library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace spmcompat {

namespace gnu_heap {

// Puts a value into the hole or into one of the hole's ancestors, at most up to `top`. Ancestors
// that are smaller than the value move down.
template <typename T, typename Less>
void put_upwards(T* heap, size_t hole, size_t top, T value, Less less) {
  while (hole > top) {
    const size_t parent = (hole - 1) / 2;
    if (!less(heap[parent], value)) break;
    heap[hole] = std::move(heap[parent]);
    hole = parent;
  }
  heap[hole] = std::move(value);
}

// Puts a value into a hole that may have children. First, the hole moves down to a leaf: the larger
// child moves up, or the right child if both are equal. Then the value moves up from the leaf.
template <typename T, typename Less>
void put(T* heap, size_t hole, size_t size, T value, Less less) {
  const size_t top = hole;
  for (size_t child = 2 * hole + 2; child <= size; child = 2 * hole + 2) {
    if (child == size || less(heap[child], heap[child - 1])) --child;
    heap[hole] = std::move(heap[child]);
    hole = child;
  }
  put_upwards(heap, hole, top, std::move(value), less);
}

template <typename T, typename Less>
void make(T* heap, size_t size, Less less) {
  for (size_t parent = size / 2; parent-- > 0;) put(heap, parent, size, heap[parent], less);
}

}  // namespace gnu_heap

// Moves the `size` smallest elements to the front, in sorted order. The others are not sorted.
template <typename T, typename Less>
void gnu_partial_sort(std::vector<T>& all, size_t size, Less less) {
  if (size == 0) return;
  T* const heap = all.data();
  gnu_heap::make(heap, size, less);
  for (size_t i = size; i < all.size(); ++i) {
    if (!less(all[i], heap[0])) continue;
    T value = std::exchange(all[i], heap[0]);
    gnu_heap::put(heap, 0, size, std::move(value), less);
  }
  for (size_t end = size; end-- > 1;) {
    T value = std::exchange(heap[end], heap[0]);
    gnu_heap::put(heap, 0, end, std::move(value), less);
  }
}

// A priority queue.
template <typename T, typename Less>
class GnuHeap {
 public:
  bool empty() const { return items_.empty(); }
  size_t size() const { return items_.size(); }
  const T& top() const { return items_.front(); }

  void push(T item) {
    items_.push_back(item);
    gnu_heap::put_upwards(items_.data(), items_.size() - 1, 0, std::move(item), Less());
  }

  void pop() {
    T last = std::move(items_.back());
    items_.pop_back();
    if (!items_.empty()) gnu_heap::put(items_.data(), 0, items_.size(), std::move(last), Less());
  }

  // Removes all items, but does not free the memory.
  void clear() { items_.clear(); }
  void swap(GnuHeap& other) { items_.swap(other.items_); }

 private:
  std::vector<T> items_;
};

}  // namespace spmcompat
