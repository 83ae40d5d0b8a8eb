"""Converts counts to rows, stored by column, and rows to counts.

`RowReader` wraps sorted_rows.hpp, and `RowTable` wraps rows.hpp; row_checks.hpp checks rows. Every
column is a buffer in the memory layout of Apache Arrow.
"""

from cython cimport final

from cython.operator cimport dereference
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t, uint8_t
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from spmcompat.counting.counts cimport Counter, Counts, PretokenCounts, PretokenTable, WorkerTable
from spmcompat.runtime.threads cimport CCrew, Crew, start_stage

from typing import NamedTuple

from spmcompat.counting.counts import SentenceRules


cdef extern from "spmcompat/counting/row_block.hpp" namespace "spmcompat" nogil:
    const uint8_t kInside
    const uint8_t kAtEnd
    const uint8_t kAtTextEnd

    cdef struct RowBlock:
        vector[int32_t] ends
        string text
        vector[uint8_t] place
        vector[uint32_t] next
        vector[int64_t] count

    cdef struct RowColumns:
        const int32_t* ends
        const char* text
        const uint8_t* place
        const uint32_t* next
        const int64_t* count
        size_t size

cdef extern from "spmcompat/counting/rows.hpp" namespace "spmcompat" nogil:
    void add_rows(const RowColumns& rows, PretokenTable& table) except +
    void add_rows_without_contexts(const RowColumns& rows, WorkerTable& table) except +


cdef extern from "spmcompat/counting/row_checks.hpp" namespace "spmcompat" nogil:
    const uint32_t kLargestCharacter
    const int64_t kLargestCount

    const char* find_fault(const RowColumns& rows, size_t text_bytes, size_t& row)
    size_t c_find_disorder "spmcompat::find_disorder"(const RowColumns& rows)

    cdef cppclass CRowHashes "spmcompat::RowHashes":
        void add(const RowColumns& rows) except +
        bint find_repeated() except +
        void append_repeated(const RowColumns& rows, vector[size_t]& found) except +


cdef extern from "spmcompat/counting/sorted_rows.hpp" namespace "spmcompat" nogil:
    cdef cppclass SortedRows:
        size_t ranges()

    unique_ptr[SortedRows] sort_rows(
        const unique_ptr[PretokenCounts]& counts, size_t range_pretokens, size_t range_bytes,
        CCrew& crew)
    vector[vector[RowBlock]] sorted_ranges(
        const unique_ptr[SortedRows]& rows, size_t first, CCrew& crew)


INSIDE, AT_END, AT_TEXT_END = kInside, kAtEnd, kAtTextEnd
LARGEST_CHARACTER, LARGEST_COUNT = kLargestCharacter, kLargestCount

cdef size_t RANGE_PRETOKENS = 1 << 16
cdef size_t RANGE_BYTES = 1 << 26


class Columns(NamedTuple):
    """A block of rows, stored by column. Every column is a buffer.

    Attributes
    ----------
    size : int
        The number of rows.
    ends : buffer of int32
        Offsets into `text`: the beginning of each pretoken, and the end of the last one.
    text : buffer of bytes
        The pretokens, in UTF-8.
    place : buffer of uint8
        Where the pretoken stands in the text: `INSIDE`, `AT_END` or `AT_TEXT_END`.
    next : buffer of uint32
        The character that follows the pretoken, or the first character of the next sentence, or 0
        at the end of the text.
    count : buffer of int64
        How often the pretoken occurs at this place, followed by this character.
    """

    size: int
    ends: object
    text: object
    place: object
    next: object
    count: object


def find_wrong_row(columns):
    """Return the first row that is invalid in a table of counts, or None if all are valid.

    Returns
    -------
    tuple of (int, str), optional
        The index of the row, and its fault: ``utf8`` or ``empty`` for its pretoken, ``text end`` if
        a character follows the end of the text, or the name of the column with an invalid value.
    """
    cdef RowColumns rows = _rows_of(columns)
    cdef size_t text_bytes = 0 if columns.text is None else memoryview(columns.text).nbytes
    cdef size_t row = 0
    cdef const char* fault
    with nogil:
        fault = find_fault(rows, text_bytes, row)
    return None if fault == NULL else (row, fault.decode())


def count_of_place(columns, uint8_t place):
    """Return the sum of the counts of all rows with this place."""
    return _sum(_rows_of(columns), place)


def total_count(columns):
    """Return the sum of all counts."""
    return _sum(_rows_of(columns), -1)


cdef _sum(const RowColumns& rows, int place):
    """Return the sum of the counts of all rows, or of those with a place that is not negative."""
    # The sum may need more than 64 bits, so the halves of the counts are added up separately.
    cdef uint64_t low = 0, high = 0
    cdef size_t i
    for i in range(rows.size):
        if place < 0 or rows.place[i] == place:
            low += rows.count[i] & 0xffffffff
            high += rows.count[i] >> 32
    return ((<object>high) << 32) + low


def find_disorder(columns):
    """Return the index of the first row that is not greater than the row before it.

    Rows are compared by pretoken (bytes), then place, then next. If all rows are in order and
    distinct, the result is the number of rows. The rows must be valid.
    """
    return c_find_disorder(_rows_of(columns))


@final
cdef class RowHashes:
    """Finds rows that may occur twice in an unordered table, by their hashes.

    The rows must be valid. Different rows can have equal hashes, so the caller must compare the
    rows that are found.
    """

    cdef CRowHashes hashes

    def add(self, columns):
        """Add rows. Each row takes eight bytes of memory."""
        cdef RowColumns rows = _rows_of(columns)
        with nogil:
            self.hashes.add(rows)

    def find_repeated(self):
        """Return whether two rows have equal hashes. Call it once, after adding all rows."""
        cdef bint found
        with nogil:
            found = self.hashes.find_repeated()
        return found

    def repeated(self, columns):
        """Return the indices of the rows whose hash occurs more than once."""
        cdef vector[size_t] found
        self.hashes.append_repeated(_rows_of(columns), found)
        return found


cdef RowColumns _rows_of(columns) except *:
    """Return the addresses of the columns. The caller must keep their buffers alive."""
    cdef RowColumns rows
    rows.size = columns.size
    rows.ends = <const int32_t*>_address(columns.ends)
    rows.text = <const char*>_address(columns.text)
    rows.place = <const uint8_t*>_address(columns.place)
    rows.next = <const uint32_t*>_address(columns.next)
    rows.count = <const int64_t*>_address(columns.count)
    return rows


cdef const void* _address(buffer) except? NULL:
    cdef const uint8_t[::1] view
    if buffer is None:
        return NULL
    view = memoryview(buffer).cast("B")
    return &view[0] if view.shape[0] > 0 else NULL


@final
cdef class RowReader:
    """Iterates over the rows of counts, sorted by pretoken (bytes), place and next character.

    Parameters
    ----------
    counts : Counts
        Merged counts. They must not change while the rows are read.
    workers : Workers
        The threads that sort the rows. Do not give them other tasks while the rows are read.
    pretokens : int
        The approximate number of pretokens in a block of rows.
    """

    cdef Counts counts
    cdef Crew crew
    cdef size_t step
    cdef unique_ptr[SortedRows] rows
    cdef vector[vector[RowBlock]] ranges
    cdef size_t first_range

    def __init__(self, Counts counts not None, workers, size_t pretokens=RANGE_PRETOKENS):
        cdef size_t range_bytes = RANGE_BYTES
        self.counts = counts
        self.crew = workers.crew
        self.step = workers.count
        start_stage(
            dereference(self.crew.crew), self.rows, sort_rows, counts.pretokens, pretokens,
            range_bytes)
        self.crew.await_stage()

    def __iter__(self):
        """Yield blocks of rows as `Columns`. All rows of a pretoken are in the same block.

        The rows and their blocks are the same for any number of workers.
        """
        starts = range(0, dereference(self.rows).ranges(), self.step)
        try:
            self._sort_ranges(0)
            for start in starts:
                self.crew.await_stage()
                found = self._take_ranges()
                if start + self.step in starts:  # sort the next rows while the caller uses `found`
                    self._sort_ranges(start + self.step)
                yield from found
        finally:
            self.crew.await_stage()  # a running stage uses this object, which may now be freed

    cdef _sort_ranges(self, size_t first):
        self.first_range = first
        start_stage(
            dereference(self.crew.crew), self.ranges, sorted_ranges, self.rows, self.first_range)

    cdef list _take_ranges(self):
        cdef size_t i, k
        columns = []
        for i in range(self.ranges.size()):
            for k in range(self.ranges[i].size()):
                columns.append(_columns(self.ranges[i][k]))
        self.ranges.clear()
        return columns


cdef object _columns(RowBlock& block):
    return Columns(
        block.count.size(),
        _bytes(block.ends.data(), block.ends.size() * sizeof(int32_t)),
        _bytes(block.text.data(), block.text.size()),
        _bytes(block.place.data(), block.place.size()),
        _bytes(block.next.data(), block.next.size() * sizeof(uint32_t)),
        _bytes(block.count.data(), block.count.size() * sizeof(int64_t)))


cdef bytes _bytes(const void* data, size_t size):
    return PyBytes_FromStringAndSize(<const char*>data, size)


@final
cdef class RowTable:
    """Builds counts from rows. Several workers may add rows at the same time.

    Parameters
    ----------
    plan : Plan
        States how the text was counted and which data are kept.
    workers : Workers
        The threads that add the rows.
    """

    cdef object plan
    cdef list counters
    cdef Counts counts

    def __init__(self, plan not None, workers):
        self.plan = plan
        self.counters = []
        if plan.counting.keeps_contexts:
            self.counts = Counts(plan, [], [], False)
            self.counts.pretokens.reset(new PretokenCounts())
        else:
            rules = SentenceRules(plan, workers.cancel)
            self.counters = [Counter(worker, rules) for worker in range(workers.count)]

    def add(self, int worker, columns):
        """Add rows. Their values must be valid."""
        cdef RowColumns rows = _rows_of(columns)
        cdef Counter counter
        if self.plan.counting.keeps_contexts:
            with nogil:
                add_rows(rows, dereference(self.counts.pretokens).pretokens())
        else:
            counter = self.counters[worker]
            with nogil:
                add_rows_without_contexts(rows, dereference(counter.counter).table())

    def take_counts(self, sentences, facts):
        """Return the counts of all added rows.

        Parameters
        ----------
        sentences : int
            Number of non-empty sentences.
        facts : LineFacts
            How many lines of the text were read and skipped.
        """
        cdef Counts counts = self.counts
        if counts is None:
            counts = Counts(self.plan, self.counters, [], False)
        counts.sentences = sentences
        counts.facts = facts
        return counts
