// The memory that a new thread needs.
#pragma once

#include <cstddef>
#include <cstdlib>
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <sys/mman.h>
#endif

namespace spmcompat {

// Allocates what the calling thread needs before it may throw a C++ exception. The first exception
// that a thread throws allocates its thread-local data of the C++ library. If memory has run out by
// then, as it has when std::bad_alloc is thrown, that aborts the process. So a thread throws once
// when it starts. Returns false if there is no memory for that.
inline bool allocate_exception_data() {
  constexpr size_t kEnough = 1 << 14;
  void* room = std::malloc(kEnough);
  if (room == nullptr) return false;
  std::free(room);
  try {
    throw 0;
  } catch (int) {
  }
  return true;
}

// Whether a new thread would find memory for its stack and for its first allocations. A thread that
// gets a stack but no further memory can abort the process. This only asks the system: no page is
// touched.
inline bool has_room_for_thread() {
#if defined(__unix__) || defined(__APPLE__)
  size_t size = 0;  // of the stack
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_getstacksize(&attributes, &size);
  pthread_attr_destroy(&attributes);
  size += 2 << 20;
  void* room = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return false;
  munmap(room, size);
#endif
  return true;
}

}  // namespace spmcompat
