"""Reads the strings of a column of Arrow data, or of a field of JSON Lines, into read buffers.

arrow_strings.hpp reads Arrow data through the Arrow C data interface, as a stream of Arrow batches
or as a single batch. An Arrow batch is a table or a single column. json_lines.hpp parses JSON.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.pycapsule cimport PyCapsule_GetPointer
from cython cimport final
from cython.operator cimport dereference
from libc.errno cimport ENOMEM
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport strerror
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from spmcompat.text.lines cimport NO_LIMIT, ReadBuffer

from spmcompat.errors import BrokenArrowError, TrainingError, printable
from spmcompat.text.arrow_columns import check_column_alone, COLUMN, column_of_table, Field
from spmcompat.text.lines import BUFFER_BYTES


cdef extern from "spmcompat/text/arrow_abi.hpp" namespace "spmcompat" nogil:
    cdef cppclass ArrowSchema:
        const char* format
        const char* name
        int64_t n_children
        ArrowSchema** children
        ArrowSchema* dictionary

    cdef cppclass ArrowArray:
        pass

    cdef cppclass ArrowArrayStream:
        int get_schema(ArrowArrayStream*, ArrowSchema*)
        int get_next(ArrowArrayStream*, ArrowArray*)
        const char* get_last_error(ArrowArrayStream*)

    void check_schema(const ArrowSchema& schema) except +
    void check_stream(const ArrowArrayStream& stream) except +

    cdef cppclass Owned[Struct]:
        void take(Struct* other)
        Struct* emptied()
        void release()
        cbool is_released()
        Struct* get()


cdef extern from "spmcompat/text/arrow_strings.hpp" namespace "spmcompat" nogil:
    cdef cppclass NestLevel:
        cbool is_list()

    cdef cppclass ColumnType:
        vector[NestLevel] levels
        cbool is_readable()
        @staticmethod
        ColumnType of(const ArrowSchema& schema, const vector[int64_t]& path) except +

    cbool is_struct(const ArrowSchema& schema)
    const ArrowSchema* struct_at(
        const ArrowSchema& schema, const vector[int64_t]& path) except +

    cdef cppclass StringColumn:
        StringColumn()
        StringColumn(const ArrowArray& batch, const ColumnType& type) except +
        int64_t append(
            int64_t row, size_t most_bytes, size_t longest, cbool keeps_ends, string& text,
            vector[size_t]& ends, vector[size_t]& nulls, size_t& dropped) except +


cdef extern from "spmcompat/text/json_lines.hpp" namespace "spmcompat" nogil:
    cdef struct UnreadLines:
        uint64_t count
        uint64_t first

    cdef cppclass CJsonLines "spmcompat::JsonLines":
        CJsonLines(string column, size_t longest, cbool keeps_ends) except +
        void read(
            const char* text, size_t size, uint64_t line, string& items,
            vector[size_t]& ends, vector[size_t]& nulls) except +
        cbool has_lists()
        UnreadLines too_long
        UnreadLines broken
        string first_broken


cdef size_t MOST_BYTES = BUFFER_BYTES


@final
cdef class ArrowStrings:
    """Reads the strings of one Arrow object.

    Parameters
    ----------
    data : object with ``__arrow_c_stream__`` or ``__arrow_c_array__``
        A table or a column.
    column : str, optional
        The column of a table.
    option : str
        The option that names the column, as messages write it: see `column_of_table`.
    longest : int, optional
        The longest sentence in bytes. Only the beginning of a longer string is kept.
    keeps_ends : bool, optional
        Whether the strings include the CR and LF at their ends.

    Raises
    ------
    BadValueError
        If there is no such column, or it does not contain strings.
    TrainingError
        If the data cannot be read.

    Attributes
    ----------
    column_name : str or None
        The name of the table's column that contains the text, perhaps in a nested field; None if
        the data are a single column outside a table.
    column_path : str or None
        The name of this column and of the nested fields down to the text, joined with dots; None if
        the data are a single column.
    """

    cdef Owned[ArrowSchema] schema
    cdef Owned[ArrowArrayStream] stream
    cdef Owned[ArrowArray] batch
    cdef StringColumn strings
    cdef ColumnType type
    cdef bint has_lists
    cdef int64_t row
    cdef size_t longest
    cdef bint keeps_ends
    cdef object name
    cdef readonly object column_name
    cdef readonly object column_path

    def __init__(self, data, column=None, option=COLUMN, longest=None, bint keeps_ends=False):
        self.longest = NO_LIMIT if longest is None else longest
        self.keeps_ends = keeps_ends
        self.name = type(data).__name__
        try:
            self._take(data)
            self._choose(column, option)
            self.schema.release()
            if not self.batch.is_released():
                self._begin_batch()
        except BaseException:
            self.close()
            raise

    def __dealloc__(self):
        with nogil:
            self.batch.release()
            self.stream.release()
            self.schema.release()

    cdef _take(self, data):
        """Move the structs out of the producer's capsules."""
        has_stream = hasattr(type(data), "__arrow_c_stream__")
        try:
            if has_stream:
                capsule = data.__arrow_c_stream__()
                self.stream.take(
                    <ArrowArrayStream*>PyCapsule_GetPointer(capsule, "arrow_array_stream"))
            else:
                schema, batch = data.__arrow_c_array__()
                self.schema.take(<ArrowSchema*>PyCapsule_GetPointer(schema, "arrow_schema"))
                self.batch.take(<ArrowArray*>PyCapsule_GetPointer(batch, "arrow_array"))
        except MemoryError:
            raise
        except Exception as error:
            raise self._error(f"{type(error).__name__}: {error}") from error
        if self.batch.is_released() and self.stream.is_released():
            raise self._error("its data have been read before")
        try:
            if has_stream:
                check_stream(self.stream.get()[0])
                self._read_schema()
            if self.schema.is_released():
                raise self._error("it has no schema, or its schema has been read before")
            check_schema(self.schema.get()[0])
        except TrainingError:
            raise
        except RuntimeError as error:
            raise self._broken(error) from None

    cdef _read_schema(self):
        cdef int code
        # The producer may need the GIL: it may run Python code, or wait for threads that do.
        with nogil:
            code = self.stream.get().get_schema(self.stream.get(), self.schema.emptied())
        self._check(code)

    cdef _choose(self, column, option):
        cdef vector[int64_t] path
        cdef ArrowSchema* schema = self.schema.get()
        try:
            if is_struct(schema[0]):
                fields = column_of_table(self._fields_at, column, option)
                path = [index for index, _ in fields]
                self.column_name = fields[0][1]
                self.column_path = ".".join([name for _, name in fields])
            else:
                check_column_alone(_field(schema[0]), column)
            self.type = ColumnType.of(schema[0], path)
        except RuntimeError as error:
            if isinstance(error, TrainingError):
                raise
            raise self._broken(error) from None
        self.has_lists = False
        for level in self.type.levels:
            self.has_lists |= level.is_list()

    def _fields_at(self, path):
        """Follow a path to a struct or a list of structs, and return the fields of the struct."""
        cdef const ArrowSchema* found = struct_at(self.schema.get()[0], path)
        if found == NULL:
            return []
        return [_field(found.children[i][0]) for i in range(found.n_children)]

    cdef _check(self, int code):
        """Raise an error if a callback of the stream returned an error code."""
        if code == 0:
            return
        cdef const char* message = self.stream.get().get_last_error(self.stream.get())
        if code == ENOMEM:
            raise MemoryError()
        cdef bytes reason = strerror(code) if message == NULL else message
        raise self._error(_without_traceback(reason.decode(errors="replace")))

    def fill(self, ReadBuffer buffer not None):
        """Append the next strings to a read buffer.

        Returns
        -------
        bool
            True if the buffer is full, False at the end of the data.

        Raises
        ------
        TrainingError
            If the data cannot be read.
        """
        while True:
            if not self.batch.is_released():
                self._append(buffer)
            if buffer.is_full():
                return True
            if not self._next_batch():
                return False

    cdef _append(self, ReadBuffer buffer):
        cdef int64_t first = self.row
        try:
            with nogil:
                self.row = self.strings.append(
                    self.row, MOST_BYTES, self.longest, self.keeps_ends, buffer.items,
                    buffer.ends, buffer.null_places, buffer.dropped)
        except RuntimeError as error:
            raise self._broken(error) from None
        buffer.rows += self.row - first
        buffer.has_parts |= self.has_lists

    cdef bint _next_batch(self) except -1:
        """Read the next batch of a stream; return whether there is one."""
        cdef int code
        with nogil:
            self.batch.release()
        if self.stream.is_released():
            return False
        with nogil:
            code = self.stream.get().get_next(self.stream.get(), self.batch.emptied())
        self._check(code)
        if self.batch.is_released():
            self.close()
            return False
        self._begin_batch()
        return True

    cdef _begin_batch(self):
        self.row = 0
        try:
            self.strings = StringColumn(self.batch.get()[0], self.type)
        except RuntimeError as error:
            raise self._broken(error) from None

    cdef _broken(self, error):
        return self._error(f"its Arrow data are broken: {error}")

    cdef _error(self, str reason):
        """Return the error for data that cannot be read, with a one-line message."""
        return BrokenArrowError(f"cannot read {self.name}: {' '.join(reason.split())}")

    def close(self):
        """Call the release callbacks, so that the producer frees its memory."""
        with nogil:
            self.batch.release()
            self.stream.release()
            self.schema.release()


cdef _without_traceback(str reason):
    """Return an error message of pyarrow. If it ends with a traceback, return only the exception.

    If the exception is KeyboardInterrupt, raises it.
    """
    _, found, traceback = reason.rpartition("Traceback (most recent call last):\n")
    if not found:
        return reason
    lines = [line for line in traceback.splitlines() if not line.startswith("  ")]
    if lines == ["KeyboardInterrupt"]:
        raise KeyboardInterrupt
    return "\n".join(lines) or reason


cdef _field(const ArrowSchema& schema):
    cdef bytes name = b"" if schema.name == NULL else schema.name
    cdef bytes form = schema.format if schema.dictionary == NULL else schema.dictionary.format
    texts = [name.decode(errors="replace"), printable(form.decode(errors="replace"))]
    cdef vector[int64_t] path
    return Field(*texts, ColumnType.of(schema, path).is_readable())


@final
cdef class JsonLines:
    """Reads the texts of JSON Lines. A record is an object with a field of text, or a plain string.

    Parameters
    ----------
    column : str
        The name of the field. In a record without a field ``a.b``, the name ``a.b`` means the field
        ``b`` of the object in the field ``a``. A field may also contain a list of texts.
    longest : int
        The longest record in bytes. Longer lines are skipped.
    keeps_ends : bool, optional
        Whether the texts include the CR and LF at their ends.
    """

    cdef unique_ptr[CJsonLines] lines

    def __init__(self, str column not None, size_t longest, bint keeps_ends=False):
        self.lines.reset(new CJsonLines(column.encode(), longest, keeps_ends))

    def read(self, bytes text not None, str origin, uint64_t first_line):
        """Return a `ReadBuffer` with the texts of the records as items.

        Every record, field or list element that is null becomes a null item in the buffer. Broken
        records and records that are too long are counted but left out. Blank lines are ignored.

        Parameters
        ----------
        text : bytes
            Whole lines, one record on each.
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
        buffer.has_parts = dereference(self.lines).has_lists()
        return buffer

    @property
    def too_long(self):
        """Of the last `read`: how many lines were too long, and the number of the first one."""
        cdef UnreadLines found = dereference(self.lines).too_long
        return found.count, found.first

    @property
    def broken(self):
        """Of the last `read`: how many records were broken, and the line and text of the first."""
        cdef UnreadLines found = dereference(self.lines).broken
        return found.count, found.first, <bytes>dereference(self.lines).first_broken
