from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.utility cimport pair
from libcpp.vector cimport vector


cdef extern from "spmcompat/text/lines.hpp" namespace "spmcompat" nogil:
    cdef cppclass LineFilter:
        LineFilter(size_t max_length, cbool tsv, cbool streamed, cbool no_empty_fields)
        uint64_t line()
        uint64_t sentences()
        uint64_t too_long()
        uint64_t reserved()
        double huge_characters()

    cdef cppclass CSampler "spmcompat::Sampler":
        CSampler(
            uint64_t size, cbool shuffle, uint64_t seed, cbool narrow, uint64_t among)
        pair[string, int64_t]& operator[](size_t i)
        cbool done()
        uint64_t offered()
        size_t size()


# A lambda is no Cython: what a filter finds is handed on by this.
cdef extern from *:
    """
    #include "spmcompat/text/lines.hpp"
    namespace spmcompat {
    template <typename Lines>
    void sample_lines(LineFilter& filter, const char* text, const Lines& lines, Sampler& sampler) {
      filter.for_each_sentence(text, lines, [&](const char* sentence, size_t size, int64_t count) {
        sampler.offer(sentence, size, count);
        return !sampler.done();
      });
    }
    }
    """
    void sample_lines "spmcompat::sample_lines"[T](
        LineFilter& filter, const char* text, const T& lines, CSampler& sampler) except + nogil


cdef class Block:
    cdef readonly object origin
    cdef readonly object first_line
    cdef bytes text
    cdef string items
    cdef vector[size_t] ends
    cdef bint is_lines


cdef class Sentences:
    cdef unique_ptr[LineFilter] filter
    cdef _fail(self, Block block, error)


cdef class Sample:
    cdef unique_ptr[CSampler] sampler
