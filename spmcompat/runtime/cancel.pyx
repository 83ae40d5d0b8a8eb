"""How threads start and stop.

Running kernels look at a flag, so that Ctrl-C ends them at once.
"""

from cython cimport final

from libcpp cimport bool as cbool


cdef extern from *:
    """
    #include <cstdlib>
    #ifdef __unix__
    #include <pthread.h>
    #include <sys/mman.h>
    #endif
    namespace spmcompat {
    // The first exception that a thread throws allocates its thread-local data of the C++ library.
    // Where memory has run out, as it has when std::bad_alloc is thrown, that aborts the process.
    // So a thread throws once when it starts. Returns false if there is no memory for that.
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

    // Whether a new thread would find memory for its stack and for what Python allocates. This only
    // asks the system: no page is touched.
    inline bool has_room_for_thread() {
    #ifdef __unix__
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
    }
    """
    cbool has_room_for_thread "spmcompat::has_room_for_thread"() nogil
    cbool allocate_exception_data "spmcompat::allocate_exception_data"() nogil


@final
cdef class CancelFlag:
    """Set once; every kernel that holds it returns early, with a result nobody reads."""

    def set(self):
        """Ask all kernels that hold the flag to stop."""
        self.flag.set()

    def is_set(self):
        """Return whether the flag was set."""
        return self.flag.is_set()


def check_room_for_thread():
    """Make sure that a thread can be started.

    If a new thread gets a stack but no further memory, Python waits for it without end.

    Raises
    ------
    MemoryError
        If there is no memory for a thread.
    """
    if not has_room_for_thread():
        raise MemoryError("no memory for a thread")


def prepare_thread():
    """Allocate what the calling thread needs before it may throw a C++ exception.

    Raises
    ------
    MemoryError
        If there is no memory for that.
    """
    if not allocate_exception_data():
        raise MemoryError("no memory for a thread")
