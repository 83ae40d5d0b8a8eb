// Preloaded into a Python: an operator new that fails from the n-th call on, or at the n-th alone.
//
// Only C++ code calls it, so Python itself still has memory.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {
std::atomic<int64_t> calls{0};
int64_t fail_from = INT64_MAX;
int64_t fail_until = INT64_MAX;
}  // namespace

extern "C" {
// Counts calls from here on. Those from `first` to before `last` fail.
void fail_allocations(int64_t first, int64_t last) {
  calls = 0;
  fail_from = first;
  fail_until = last;
}
int64_t count_allocations() { return calls; }
}

void* operator new(size_t size) {
  const int64_t call = calls++;
  void* memory = call >= fail_from && call < fail_until ? nullptr : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](size_t size) { return operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
