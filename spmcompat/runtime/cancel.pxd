from libcpp cimport bool as cbool


cdef extern from "spmcompat/runtime/cancel.hpp" namespace "spmcompat" nogil:
    cdef cppclass CCancelFlag "spmcompat::CancelFlag":
        void set()
        cbool is_set()


cdef class CancelFlag:
    cdef CCancelFlag flag
