"""Read buffers, and the filter that decides which lines are sentences (lines.hpp)."""

from cython cimport final

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cython.operator cimport dereference
from libcpp.algorithm cimport upper_bound
from libcpp.string cimport string
from libcpp.vector cimport vector

from spmcompat.errors import BadValueError, TrainingError


cdef extern from "spmcompat/text/lines.hpp" namespace "spmcompat" nogil:
    void split_items "spmcompat::split_items"(
        const string& items, const vector[size_t]& ends, string& lines,
        vector[size_t]& line_ends) except +


cdef size_t MOST_BYTES = 1 << 20
BUFFER_BYTES = MOST_BYTES


@final
cdef class ReadBuffer:
    """A part of the input: lines that end in LF, or items of an iterator."""

    def __cinit__(self):
        self.taken = -1
        self.records = -1

    @staticmethod
    def of_lines(bytes text not None, str origin, first_line):
        """Lines of the file `origin` from the line `first_line` (counted from 1) on."""
        cdef ReadBuffer buffer = ReadBuffer()
        buffer.text = text
        buffer.is_lines = True
        buffer.origin = origin
        buffer.first_line = first_line
        return buffer

    @staticmethod
    def of_items(iterator, first_item):
        """The next items (str or bytes) of an iterator; CR and LF at their ends are removed.

        Returns
        -------
        ReadBuffer or None
            None when the iterator is exhausted.
        """
        cdef ReadBuffer buffer = ReadBuffer()
        cdef bytes data
        cdef Py_ssize_t size
        buffer.is_lines = False
        buffer.origin = "item"
        buffer.first_line = first_item
        for item in iterator:
            data = _encode(item)
            size = PyBytes_GET_SIZE(data)
            while size > 0 and PyBytes_AS_STRING(data)[size - 1] in (b"\r", b"\n"):
                size -= 1
            buffer.items.append(PyBytes_AS_STRING(data), size)
            buffer.ends.push_back(buffer.items.size())
            if buffer.items.size() >= BUFFER_BYTES:
                break
        return buffer if buffer.ends.size() > 0 else None

    @staticmethod
    def of_rows(str origin, first_row):
        """Return an empty buffer for rows of a table from `first_row` (counted from 1) on."""
        cdef ReadBuffer buffer = ReadBuffer()
        buffer.is_lines = False
        buffer.origin = origin
        buffer.first_line = first_row
        buffer.items.reserve(MOST_BYTES)
        return buffer

    cdef bint is_full(self) noexcept:
        """Tell whether rows fill the buffer; each counts one byte besides its text."""
        return self.items.size() + self.ends.size() + self.null_places.size() >= MOST_BYTES

    def split_lines(self):
        """Make every line of an item an item; CR and LF at their ends are removed."""
        cdef string items
        cdef vector[size_t] ends
        self.records = self.ends.size()
        with nogil:
            split_items(self.items, self.ends, items, ends)
        self.items.swap(items)
        self.ends.swap(ends)

    def unfinished_line(self):
        """Return the text after the last line end."""
        return self.text[self.text.rfind(b"\n") + 1:]

    cdef number_of(self, uint64_t line):
        """Return the number in the whole text of a line (counted from 1) of the buffer."""
        cdef size_t item = line - 1
        cdef size_t nulls = upper_bound(
            self.null_places.begin(), self.null_places.end(), item) - self.null_places.begin()
        return self.first_line + item + nulls

    @property
    def lines(self):
        """Number of items, each with all its lines."""
        return self.ends.size() if self.records < 0 else self.records

    @property
    def nulls(self):
        """Number of rows that hold no text, not even an empty one."""
        return self.null_places.size()

    @property
    def size(self):
        """Size in bytes."""
        return len(self.text) if self.is_lines else self.items.size()

    @property
    def input_size(self):
        """How many bytes of the input became this buffer; `size`, unless it was set."""
        return self.size if self.taken < 0 else self.taken

    @input_size.setter
    def input_size(self, Py_ssize_t size):
        self.taken = size


def _encode(item):
    if isinstance(item, bytes):
        return item
    if isinstance(item, str):
        try:
            return item.encode()
        except UnicodeEncodeError as error:
            raise TrainingError(
                f"a sentence of the iterator holds a lone surrogate: {error.reason}: "
                "encode it to bytes yourself"
            ) from None
    raise BadValueError(
        f"Iterator must return str or bytes. It returned {type(item).__name__}."
    )


@final
cdef class LineFilter:
    """The tests that a line passes before it is a sentence, and the counts of what they find.

    Parameters
    ----------
    text : TextPlan
        How lines are read.
    """

    def __init__(self, text not None):
        self.filter.reset(new CLineFilter(
            text.max_sentence_length, text.tsv, text.streams_numbers, text.skips_empty_fields))

    @property
    def sentences(self):
        """Number of sentences."""
        return dereference(self.filter).sentences()

    @property
    def too_long(self):
        """Number of lines over the limit."""
        return dereference(self.filter).too_long()

    @property
    def reserved(self):
        """Number of lines that hold U+2585, the unknown mark."""
        return dereference(self.filter).reserved()

    @property
    def huge_characters(self):
        """Number of characters, before normalization, of sentences with huge counts."""
        return dereference(self.filter).huge_characters()

    cdef fail(self, ReadBuffer buffer, error):
        """Raise the error of the line that was read last."""
        line = buffer.number_of(dereference(self.filter).line())
        raise TrainingError(f"{buffer.origin}:{line}: {error}") from None
