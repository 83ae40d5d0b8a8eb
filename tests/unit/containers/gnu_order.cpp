// Compares the containers of gnu_heap.hpp and gnu_hash_map.hpp with those of the GNU C++ library.
// It must be compiled with that library. If they differ, prints the first difference and returns 1.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <queue>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

#include "spmcompat/containers/gnu_hash_map.hpp"
#include "spmcompat/containers/gnu_heap.hpp"

#ifndef __GLIBCXX__
#error "needs the GNU C++ library"
#endif

using Item = std::pair<int, int>;  // items with the same first number are equal

struct Less {
  bool operator()(const Item& a, const Item& b) const { return a.first < b.first; }
};

std::mt19937_64 generate(1);
int below(int limit) { return static_cast<int>(generate() % limit); }

bool heaps_agree(int size, int values) {
  spmcompat::GnuHeap<Item, Less> ours;
  std::priority_queue<Item, std::vector<Item>, Less> theirs;
  for (int i = 0; i < size; ++i) {
    const Item item(below(values), i);
    ours.push(item);
    theirs.push(item);
    if (below(3) > 0) continue;
    if (ours.top() != theirs.top()) return false;
    ours.pop();
    theirs.pop();
  }
  for (; !theirs.empty(); theirs.pop(), ours.pop()) {
    if (ours.size() != theirs.size() || ours.top() != theirs.top()) return false;
  }
  return ours.empty();
}

bool partial_sorts_agree(int size, int sorted, int values) {
  std::vector<Item> ours;
  for (int i = 0; i < size; ++i) ours.emplace_back(below(values), i);
  std::vector<Item> theirs = ours;
  spmcompat::gnu_partial_sort(ours, sorted, Less());
  std::partial_sort(theirs.begin(), theirs.begin() + sorted, theirs.end(), Less());
  return ours == theirs;
}

bool maps_agree(int steps, uint64_t keys, int erased_of_ten) {
  spmcompat::GnuHashMap<int> ours;
  std::unordered_map<uint64_t, int> theirs;
  const uint64_t factor = generate() | 1;
  for (int i = 0; i < steps; ++i) {
    const uint64_t key = generate() % keys * factor;
    if (below(10) < erased_of_ten) {
      ours.erase(key);
      theirs.erase(key);
    } else {
      ours.insert(key, i);
      theirs.insert({key, i});
    }
    if (ours.size() != theirs.size()) return false;
    if (i % (steps / 8 + 1) > 0) continue;
    auto at = theirs.begin();
    bool equal = true;
    ours.for_each([&](uint64_t k, int value) {
      equal = equal && at != theirs.end() && *at == std::pair<const uint64_t, int>(k, value);
      if (equal) ++at;
    });
    if (!equal || at != theirs.end()) return false;
  }
  return true;
}

int main() {
  for (int round = 0; round < 300; ++round) {
    const int size = round < 100 ? round : below(3000);
    const int values = 1 + below(size + 2);
    if (!heaps_agree(size, values)) return std::printf("heap of %d\n", size), 1;
    const int sorted = 1 + below(size + 1);
    if (sorted <= size && !partial_sorts_agree(size, sorted, values)) {
      return std::printf("partial sort, %d of %d\n", sorted, size), 1;
    }
    if (!maps_agree(size, 1 + below(2 * size + 2), below(8))) {
      return std::printf("map, %d steps\n", size), 1;
    }
  }
  if (!maps_agree(400000, uint64_t{1} << 40, 1)) return std::puts("large map"), 1;
  return 0;
}
