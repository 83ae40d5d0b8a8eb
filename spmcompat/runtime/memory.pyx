"""Returns unused memory to the system."""

cdef extern from *:
    """
    #include <cstdlib>
    #ifdef __GLIBC__
    #include <malloc.h>
    #endif
    namespace spmcompat {
    inline void return_freed_memory() {
    #ifdef __GLIBC__
      mallopt(M_MMAP_THRESHOLD, 1 << 17);
      malloc_trim(0);
    #endif
    }
    }
    """
    void c_return_freed_memory "spmcompat::return_freed_memory"() nogil


def return_freed_memory():
    """Return free memory to the system now, and every large block when it is freed later.

    By default, the GNU C library keeps small blocks that are freed. Whenever a large block of up to
    32 MiB is freed, the library treats blocks of that size as small from then on.
    """
    with nogil:
        c_return_freed_memory()
