from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.utility cimport pair


cdef extern from "spmcompat/text/sampling.hpp" namespace "spmcompat" nogil:
    cdef cppclass CReservoirSample "spmcompat::ReservoirSample":
        CReservoirSample(
            uint64_t size, cbool shuffle, uint64_t seed, cbool repeatable,
            cbool multiplies, uint64_t among) except +
        pair[string, int64_t]& operator[](size_t i)
        cbool done()
        uint64_t offered()
        size_t size()


cdef class ReservoirSample:
    cdef unique_ptr[CReservoirSample] sample


cdef class SampleSlice:
    cdef ReservoirSample sample
    cdef size_t first
    cdef size_t last
