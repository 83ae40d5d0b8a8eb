from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport shared_ptr, unique_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.utility cimport pair
from libcpp.vector cimport vector


cdef extern from "spmcompat/text/lines.hpp" namespace "spmcompat" nogil:
    cdef struct BufferText:
        string_view text
        const vector[size_t]* item_ends

    cdef struct LineTotals:
        uint64_t lines
        uint64_t too_long
        uint64_t too_long_bytes
        uint64_t reserved
        uint64_t empty
        uint64_t divided
        uint64_t parts
        double huge_characters

    cdef cppclass CLineFilter "spmcompat::LineFilter":
        CLineFilter(
            size_t max_length, cbool splits_long, cbool tsv, cbool streams_numbers,
            cbool skips_empty_fields) except +
        uint64_t line()
        const char* first_too_long()
        const char* first_reserved()
        LineTotals totals


cdef extern from "spmcompat/text/text_blocks.hpp" namespace "spmcompat" nogil:
    ctypedef shared_ptr[char] TextBlock


cdef size_t NO_LIMIT  # a limit that is larger than any line


cdef class ReadBuffer:
    cdef readonly object origin
    cdef readonly object first_line
    cdef const char* text
    cdef size_t text_size
    # `text` points into `text_bytes` or `text_block`, which owns the memory.
    cdef bytes text_bytes
    cdef TextBlock text_block
    cdef string items
    cdef vector[size_t] ends
    # For each null, the number of items before it.
    cdef vector[size_t] null_places
    # `dropped` is the number of bytes that were dropped from the ends of lines that are too long.
    # For lines of a file, only the first line can be shortened, and `before_dropped` is the number
    # of bytes that were kept of it.
    cdef readonly size_t before_dropped, dropped
    # For lines of a file: `is_numbered` states whether `first_line` is known, and `offset` is the
    # position of the text in the file.
    cdef bint is_numbered
    cdef uint64_t offset
    cdef bint is_lines
    cdef Py_ssize_t taken, records
    # `rows` is the number of rows of a table. `has_parts` states whether one row or record may have
    # become several items, so that the number of an item is not the number of its row.
    cdef readonly Py_ssize_t rows
    cdef bint has_parts
    cdef bint is_full(self) noexcept
    cdef BufferText whole_text(self) noexcept nogil
    cdef number_of(self, uint64_t line)
    cdef place_of(self, const char* at)
    cdef not_utf8(self, const char* at)


cdef class LineFilter:
    cdef unique_ptr[CLineFilter] filter
    cdef readonly dict places
    cdef note(self, str kind, uint64_t index, ReadBuffer buffer, const char* at)
    cdef note_skipped(self, uint64_t index, ReadBuffer buffer)
    cdef fail(self, ReadBuffer buffer, error)


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
