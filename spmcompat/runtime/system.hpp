// The functions that call the operating system, or depend on the C library: memory for threads,
// freed memory, and the process id. Everything else uses the C++ standard library.
#pragma once

#include <cstddef>
#include <cstdlib>
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#endif
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace spmcompat {

// Allocates the memory that the calling thread needs to throw C++ exceptions. The first exception
// in a thread allocates thread-local data of the C++ library. If that exception is std::bad_alloc,
// memory has run out, so this allocation fails, too, and aborts the process. So every thread throws
// an exception when it starts. Returns false if there is not enough memory.
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

// Whether there is memory for the stack and the first allocations of a new thread. A thread that
// gets a stack but no further memory can abort the process. The check maps memory without using it.
inline bool has_room_for_thread() {
#if defined(__unix__) || defined(__APPLE__)
  size_t size = 0;  // the size of the stack
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

// Returns freed memory to the system. After the first call, large blocks are returned as soon as
// they are freed.
inline void return_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 17);
  malloc_trim(0);
#endif
}

// Returns the id of this process. A forked process has another id. Windows has no fork.
inline int process_id() {
#ifdef _WIN32
  return 0;
#else
  return getpid();
#endif
}

}  // namespace spmcompat
