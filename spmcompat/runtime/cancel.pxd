cdef class CancelFlag:
    cdef volatile int flag
