from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr


cdef extern from "spmcompat/runtime/cancel.hpp" namespace "spmcompat" nogil:
    cdef cppclass CCancelFlag "spmcompat::CancelFlag":
        void set()
        cbool is_set()


cdef class CancelFlag:
    cdef CCancelFlag flag


cdef extern from "spmcompat/runtime/crew.hpp" namespace "spmcompat" nogil:
    cdef cppclass CCrew "spmcompat::Crew":
        CCrew(size_t size, CCancelFlag& cancel) except +
        size_t size()
        cbool await_end(double seconds) except +
        size_t take_progress()
        void finish() except +

    void start_stage(CCrew& crew, ...) except +
    void start_change(CCrew& crew, ...) except +


cdef class Crew:
    cdef CancelFlag cancel
    cdef unique_ptr[CCrew] crew
    cdef await_stage(self, shown=*)
