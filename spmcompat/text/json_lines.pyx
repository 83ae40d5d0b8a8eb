"""One field of the records of a JSON Lines text (json_lines.hpp)."""

from cython cimport final

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cython.operator cimport dereference
from libc.stdint cimport uint64_t
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from spmcompat.text.lines cimport ReadBuffer


cdef extern from "spmcompat/text/json_lines.hpp" namespace "spmcompat" nogil:
    cdef cppclass CJsonLines "spmcompat::JsonLines":
        CJsonLines(string column, size_t longest) except +
        void read(
            const char* text, size_t size, uint64_t line, string& items,
            vector[size_t]& ends, vector[size_t]& nulls) except +
        uint64_t too_long()
        uint64_t first_too_long_line()
        uint64_t broken()
        uint64_t first_broken_line()
        const string& first_broken()


@final
cdef class JsonLines:
    """Reads the text of records: the string in one field of an object, or a bare string.

    Parameters
    ----------
    column : str
        The name of the field.
    longest : int
        A line with more bytes is skipped.
    """

    cdef unique_ptr[CJsonLines] lines

    def __init__(self, str column not None, size_t longest):
        self.lines.reset(new CJsonLines(column.encode(), longest))

    def read(self, bytes text not None, str origin, uint64_t first_line):
        """Read whole lines, each a record; return a `ReadBuffer` whose items are their texts.

        A record that is null, or whose field is null, is one of the buffer's nulls. A broken one
        is left out and counted, and so is one that is too long. Blank lines are no records.

        Parameters
        ----------
        text : bytes
            The lines.
        origin : str
            The name of the file.
        first_line : int
            The number of the first line in the file, counted from 1.
        """
        cdef ReadBuffer buffer = ReadBuffer()
        cdef const char* begin = PyBytes_AS_STRING(text)
        cdef size_t size = PyBytes_GET_SIZE(text)
        buffer.is_lines = False
        buffer.origin = origin
        buffer.first_line = first_line
        with nogil:
            dereference(self.lines).read(
                begin, size, first_line, buffer.items, buffer.ends, buffer.null_places)
        return buffer

    @property
    def too_long(self):
        """Number of lines that were too long."""
        return dereference(self.lines).too_long()

    @property
    def first_too_long_line(self):
        """The number of the first line that was too long; 0 if there is none."""
        return dereference(self.lines).first_too_long_line()

    @property
    def broken(self):
        """Number of broken records."""
        return dereference(self.lines).broken()

    @property
    def first_broken(self):
        """The number and the text of the first broken line, if there is one."""
        if self.broken == 0:
            return None
        cdef bytes text = dereference(self.lines).first_broken()
        return dereference(self.lines).first_broken_line(), text
