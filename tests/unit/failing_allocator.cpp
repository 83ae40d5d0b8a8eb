// An operator new that fails when it is told to. It is preloaded into a Python process.
//
// Only C++ code calls it, so Python itself still has memory. Calls are distinguished by their call
// stacks, so that one failure on each path through the code can be tried.
#include <execinfo.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

namespace {
constexpr int kFrames = 8;
constexpr int kMostSites = 1 << 14;

std::mutex mutex;  // guards the variables below
int64_t calls = 0;
int64_t fail_from = INT64_MAX;
int64_t fail_until = INT64_MAX;
bool is_recording = false;
uint64_t sites[kMostSites];
int64_t first_calls[kMostSites];
int site_count = 0;

void record(int64_t call) {
  void* frames[kFrames];
  const int size = backtrace(frames, kFrames);
  uint64_t site = 0;
  for (int i = 1; i < size; ++i) {
    site = (site ^ reinterpret_cast<uintptr_t>(frames[i])) * 0x9e3779b97f4a7c15;
  }
  if (site_count == kMostSites || std::find(sites, sites + site_count, site) < sites + site_count) {
    return;
  }
  sites[site_count] = site;
  first_calls[site_count++] = call;
}

bool fails() {
  const std::lock_guard<std::mutex> lock(mutex);
  const int64_t call = calls++;
  if (is_recording) record(call);
  return call >= fail_from && call < fail_until;
}
}  // namespace

extern "C" {
// Counts the allocations from now on, beginning with 0. Allocations `first` to `last` - 1 fail.
void fail_allocations(int64_t first, int64_t last) {
  const std::lock_guard<std::mutex> lock(mutex);
  calls = 0;
  fail_from = first;
  fail_until = last;
}
// Starts or stops recording the first call on each path through the code.
void record_sites(bool recording) { is_recording = recording; }
int get_site_count() { return site_count; }
int64_t get_first_call(int site) { return first_calls[site]; }
}

void* operator new(size_t size) {
  void* memory = fails() ? nullptr : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](size_t size) { return operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
