"""Read buffers, the filter that decides which lines are sentences, and samples of sentences."""

from cpython.buffer cimport PyBUF_WRITE
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.memoryview cimport PyMemoryView_FromMemory
from cpython.unicode cimport PyUnicode_FromObject
from cython cimport final
from cython.operator cimport dereference
from libc.string cimport memcpy
from libcpp.algorithm cimport count, upper_bound
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

from spmcompat.errors import BrokenRecordError, NotUtf8Error, NotUtf8TextError, WrongTypeError


cdef extern from "spmcompat/text/lines.hpp" namespace "spmcompat" nogil:
    void split_items "spmcompat::split_items"(
        const string& items, const vector[size_t]& ends, string& lines,
        vector[size_t]& line_ends) except +
    vector[size_t] ends_of_texts(const BufferText& buffer) except +
    size_t kept_of(size_t size, size_t longest)
    void sample_lines "spmcompat::sample_lines"(
        CLineFilter& filter, const BufferText& buffer, CReservoirSample& sample) except +
    const char* sample_texts "spmcompat::sample_texts"(
        const BufferText& buffer, CReservoirSample& sample) except +

    cdef cppclass UnfinishedLine:
        UnfinishedLine(size_t longest) except +
        void begin(string_view text) except +
        void append(string_view text) except +
        string_view drop_from(string_view text)
        string_view text()
        size_t dropped()


cdef extern from "spmcompat/text/text_blocks.hpp" namespace "spmcompat" nogil:
    cdef cppclass TextBlocks:
        TextBlocks(size_t size) except +
        TextBlock take() except +

    TextBlock joined(string_view begin, string_view end) except +


cdef extern from "spmcompat/text/sampling.hpp" namespace "spmcompat" nogil:
    size_t bytes_of "spmcompat::bytes_of"(
        const CReservoirSample& sample, size_t first, size_t last)


cdef size_t MOST_BYTES = 1 << 20
BUFFER_BYTES = MOST_BYTES
NO_LIMIT = (<size_t>-1 >> 1) - 1


@final
cdef class ReadBuffer:
    """A part of the input: lines that end in LF, or items of an iterator."""

    def __cinit__(self):
        self.taken = -1
        self.records = -1

    @staticmethod
    def of_lines(bytes text not None, str origin, first_line):
        """Return a buffer of lines of the file `origin`, starting at line `first_line` (from 1)."""
        cdef ReadBuffer buffer = ReadBuffer()
        buffer.text_bytes = text
        buffer.text = PyBytes_AS_STRING(text)
        buffer.text_size = PyBytes_GET_SIZE(text)
        buffer.is_lines = True
        buffer.is_numbered = True
        buffer.origin = origin
        buffer.first_line = first_line
        return buffer

    @staticmethod
    def of_items(iterator, first_item, longest=None, str origin="item", bint keeps_ends=False):
        """Read the next items of an iterator.

        Parameters
        ----------
        iterator : iterator of str or bytes
            The items.
        first_item : int
            The number of the next item, counted from 1.
        longest : int, optional
            The longest sentence in bytes. Only the beginning of a longer item is kept.
        origin : str
            The word before the number of an item in messages.
        keeps_ends : bool, optional
            Whether the items include the CR and LF at their ends. There is no `longest` then.

        Returns
        -------
        ReadBuffer or None
            None if the iterator is exhausted.
        """
        cdef ReadBuffer buffer = ReadBuffer()
        cdef object data  # not declared as bytes, which would refuse subclasses
        cdef Py_ssize_t size, kept
        cdef Py_ssize_t most = NO_LIMIT if longest is None else longest
        cdef bint is_cut
        buffer.is_lines = False
        buffer.origin = origin
        buffer.first_line = first_item
        for item in iterator:
            is_cut = False
            if isinstance(item, str):
                item = PyUnicode_FromObject(item)  # a subclass may have its own len and slices
                is_cut = len(item) > most
            if is_cut:
                # Remove line ends before the item is cut; afterwards, its end is lost.
                item = item.rstrip("\r\n")
                buffer.dropped += max(len(item) - (most + 1), 0)
                item = item[:most + 1]
            data = _encode(item)
            size = PyBytes_GET_SIZE(data)
            while (not is_cut and not keeps_ends and size > 0
                   and PyBytes_AS_STRING(data)[size - 1] in (b"\r", b"\n")):
                size -= 1
            kept = kept_of(size, most)
            buffer.items.append(PyBytes_AS_STRING(data), kept)
            buffer.dropped += size - kept
            buffer.ends.push_back(buffer.items.size())
            if buffer.items.size() >= BUFFER_BYTES:
                break
        return buffer if buffer.ends.size() > 0 else None

    @staticmethod
    def of_rows(str origin, first_row):
        """Return an empty buffer for rows of a table, starting at row `first_row` (from 1)."""
        cdef ReadBuffer buffer = ReadBuffer()
        buffer.is_lines = False
        buffer.origin = origin
        buffer.first_line = first_row
        buffer.items.reserve(MOST_BYTES)
        return buffer

    cdef bint is_full(self) noexcept:
        """Whether the buffer is full. Each row counts as one byte more than its text."""
        return self.items.size() + self.ends.size() + self.null_places.size() >= MOST_BYTES

    cdef BufferText whole_text(self) noexcept nogil:
        """Return the lines or items."""
        cdef BufferText buffer
        if self.is_lines:
            buffer.text = string_view(self.text, self.text_size)
            buffer.item_ends = NULL
        else:
            buffer.text = string_view(self.items.data(), self.items.size())
            buffer.item_ends = &self.ends
        return buffer

    def split_lines(self):
        """Replace the items with their lines, without CR and LF at the ends of the lines."""
        cdef string items
        cdef vector[size_t] ends
        self.records = self.ends.size()
        self.has_parts = True
        with nogil:
            split_items(self.items, self.ends, items, ends)
        self.items.swap(items)
        self.ends.swap(ends)

    def unfinished_line(self):
        """Return the text after the last line end."""
        cdef size_t begin = string_view(self.text, self.text_size).rfind(<char>b"\n") + 1
        return <bytes>self.text[begin:self.text_size]

    def lines_text(self):
        """Return a copy of the lines."""
        return <bytes>self.text[:self.text_size]

    def texts(self):
        """Return the lines, which include their ends, or the items.

        Raises
        ------
        NotUtf8Error
            If a text is not well-formed UTF-8.
        """
        cdef BufferText buffer = self.whole_text()
        cdef const char* text = buffer.text.data()
        cdef size_t begin = 0, end
        found = []
        for end in ends_of_texts(buffer):
            try:
                found.append((<bytes>text[begin:end]).decode())
            except UnicodeDecodeError:
                raise self.not_utf8(text + begin) from None
            begin = end
        return found

    def first_nul(self):
        """Return the place of the first NUL character, or "" if there is none."""
        cdef string_view text = self.whole_text().text
        cdef size_t at = text.find(<char>0)
        return "" if at >= text.size() else self.place_of(text.data() + at)

    cdef not_utf8(self, const char* at):
        """Return the error for a text that is not well-formed UTF-8, which begins at `at`."""
        return NotUtf8Error(
            f"{self.place_of(at)}: stream did not contain valid UTF-8: convert the input with "
            "iconv -f ENCODING -t UTF-8.")

    cdef number_of(self, uint64_t line):
        """Convert a line number of this buffer (counted from 1) to a line number of the input."""
        cdef size_t item = line - 1
        cdef size_t nulls = upper_bound(
            self.null_places.begin(), self.null_places.end(), item) - self.null_places.begin()
        return self.first_line + item + nulls

    cdef place_of(self, const char* at):
        """Return the place of a line in the input, such as ``a.txt:12``.

        `at` is the address of the line in this buffer.
        """
        cdef size_t begin
        if not self.is_lines:
            begin = at - self.items.data()
            if self.has_parts:
                return f"near {self.origin}:{self.first_line}"
            begin = upper_bound(self.ends.begin(), self.ends.end(), begin) - self.ends.begin()
            return f"{self.origin}:{self.number_of(begin + 1)}"
        if self.is_numbered:
            return f"{self.origin}:{self.number_of(count(self.text, at, <char>b'\n') + 1)}"
        begin = at - self.text
        if begin >= self.before_dropped:
            begin += self.dropped
        return f"{self.origin}, from byte {self.offset + begin} on"

    @property
    def lines(self):
        """Number of items. `split_lines` does not change this number."""
        return self.ends.size() if self.records < 0 else self.records

    @property
    def nulls(self):
        """Number of null rows."""
        return self.null_places.size()

    @property
    def size(self):
        """Size in bytes, including dropped bytes."""
        return self.dropped + (self.text_size if self.is_lines else self.items.size())

    @property
    def input_size(self):
        """Number of input bytes that this buffer was read from; `size` by default."""
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
            raise NotUtf8TextError(
                f"a sentence of the iterator contains a lone surrogate: {error.reason}: "
                "encode it to bytes yourself"
            ) from None
    raise WrongTypeError(
        f"Iterator must return str or bytes. It returned {type(item).__name__}."
    )


@final
cdef class LineReader:
    """Reads the lines of a file into read buffers, which end at line ends.

    Parameters
    ----------
    file : file
        A file with ``readinto``.
    origin : str
        The name of the file in messages.
    block_size : int
        The maximum number of bytes that are read at a time.
    longest : int or None
        The longest sentence in bytes. Only the beginning of a longer line is kept.
    numbered : bool
        Whether to count the lines. Otherwise, every buffer begins with line 1.
    """

    cdef object file, origin
    cdef bint count_lines
    cdef uint64_t line, offset
    cdef size_t block_size
    cdef unique_ptr[TextBlocks] blocks
    cdef unique_ptr[UnfinishedLine] unfinished

    def __init__(self, file, str origin not None, size_t block_size, longest, bint numbered):
        self.file = file
        self.origin = origin
        self.block_size = block_size
        self.count_lines = numbered
        self.line = 1
        self.blocks.reset(new TextBlocks(block_size))
        self.unfinished.reset(new UnfinishedLine(NO_LIMIT if longest is None else longest))

    def read(self):
        """Return the next `ReadBuffer`, or None at the end of the file.

        Only the last line of the file may lack its line end.
        """
        cdef UnfinishedLine* unfinished = self.unfinished.get()
        cdef TextBlock block
        cdef string_view text
        cdef size_t begin, size, end
        while True:
            # Leave room for the unfinished line in front of the new text, unless the line is long.
            # A long line is later joined with the new text in another block.
            begin = unfinished.text().size()
            if begin * 2 > self.block_size:
                begin = 0
            block = dereference(self.blocks).take()
            size = self._read_into(block.get() + begin, self.block_size - begin)
            if size == 0 and unfinished.text().empty():
                return None
            text = unfinished.drop_from(string_view(block.get() + begin, size))
            end = text.rfind(<char>b"\n") + 1  # 0 if there is no line end
            if size == 0 or end > 0:
                break
            unfinished.append(text)
        buffer = self._buffer_of(block, text.substr(0, end))
        unfinished.begin(text.substr(end))
        return buffer

    cdef size_t _read_into(self, char* begin, size_t size) except? 0:
        with PyMemoryView_FromMemory(begin, size, PyBUF_WRITE) as view:
            filled = self.file.readinto(view)
        return filled or 0

    cdef ReadBuffer _buffer_of(self, const TextBlock& block, string_view lines):
        """Return a read buffer of the unfinished line and the lines that follow it."""
        cdef ReadBuffer buffer = ReadBuffer()
        cdef string_view first = self.unfinished.get().text()
        if first.size() <= <size_t>(lines.data() - block.get()):
            buffer.text_block = block
            buffer.text = lines.data() - first.size()
            memcpy(<char*>buffer.text, first.data(), first.size())
        else:
            buffer.text_block = joined(first, lines)
            buffer.text = buffer.text_block.get()
        buffer.text_size = first.size() + lines.size()
        buffer.dropped = self.unfinished.get().dropped()
        buffer.before_dropped = first.size() if buffer.dropped > 0 else 0
        buffer.is_lines = True
        buffer.origin = self.origin
        buffer.first_line = self.line
        buffer.is_numbered = self.count_lines
        buffer.offset = self.offset
        self.offset += buffer.text_size + buffer.dropped
        if self.count_lines:
            self.line += count(buffer.text, buffer.text + buffer.text_size, <char>b"\n")
        return buffer


@final
cdef class LineFilter:
    """Decides which lines are sentences, and counts sentences and other lines.

    Parameters
    ----------
    text : TextPlan
        States how to read lines.

    Attributes
    ----------
    places : dict of str to (int, str)
        For each kind of line (``"too_long"``, ``"reserved"``, ``"nul"``, ``"malformed"``), the
        first such line: the index of its read buffer, and its place in the input.
    """

    def __init__(self, text not None):
        self.filter.reset(new CLineFilter(
            text.max_sentence_length, text.splits_long, text.tsv, text.release.streams_numbers,
            text.release.skips_empty_fields))
        self.places = {}

    @property
    def totals(self):
        """Numbers of sentences and of other lines, by the names of the fields of `LineFacts`."""
        return dereference(self.filter).totals

    cdef note(self, str kind, uint64_t index, ReadBuffer buffer, const char* at):
        """Store the place of the line at `at` if it is the first of its kind in the input so far.

        Do nothing if `at` is null.
        """
        if at != NULL and (kind not in self.places or index < self.places[kind][0]):
            self.places[kind] = (index, buffer.place_of(at))

    cdef note_skipped(self, uint64_t index, ReadBuffer buffer):
        """Store the places of the first skipped lines, and add up the bytes dropped from lines."""
        self.filter.get().totals.too_long_bytes += buffer.dropped
        self.note("too_long", index, buffer, dereference(self.filter).first_too_long())
        self.note("reserved", index, buffer, dereference(self.filter).first_reserved())

    cdef fail(self, ReadBuffer buffer, error):
        """Raise an error that names the current line."""
        line = buffer.number_of(dereference(self.filter).line())
        raise BrokenRecordError(f"{buffer.origin}:{line}: {error}") from None


@final
cdef class ReservoirSample:
    """A sample of at most `size` sentences: the first ones, or a uniform sample.

    Parameters
    ----------
    size : int
        The largest number of sentences.
    shuffle : bool
        Whether the sample is uniform.
    seed : int
        The seed of the random numbers.
    repeatable : bool
        Whether to draw the sample of those releases of sentencepiece that draw the same sample in
        every process.
    multiplies : bool
        Only with `repeatable`: whether a random number is converted to an index by multiplication.
        See `sample_multiplies` of `spmcompat.releases.Release`.
    among : int
        Sample only from the first `among` sentences; 0 means all sentences.
    """

    def __init__(self, uint64_t size, bint shuffle, uint64_t seed, bint repeatable=False,
                 bint multiplies=False, uint64_t among=0):
        self.sample.reset(
            new CReservoirSample(size, shuffle, seed, repeatable, multiplies, among))

    def __len__(self):
        return dereference(self.sample).size()

    def __iter__(self):
        """Yield the sentences as bytes."""
        cdef size_t i
        for i in range(dereference(self.sample).size()):
            yield <bytes>dereference(self.sample)[i].first

    @property
    def offered(self):
        """Number of sentences from which the sample was drawn."""
        return dereference(self.sample).offered()

    @property
    def done(self):
        """Whether the sample is complete, so that no later sentence can change it."""
        return dereference(self.sample).done()

    def add(self, ReadBuffer buffer not None, LineFilter line_filter not None):
        """Offer every sentence of a read buffer to the sample."""
        try:
            with nogil:
                sample_lines(
                    dereference(line_filter.filter), buffer.whole_text(), dereference(self.sample))
        except RuntimeError as error:
            line_filter.fail(buffer, error)
        line_filter.note_skipped(0, buffer)

    def add_texts(self, ReadBuffer buffer not None):
        """Offer every line of a read buffer, with its end, or every item to the sample.

        Raises
        ------
        NotUtf8Error
            If a text is not well-formed UTF-8.
        """
        cdef const char* malformed
        with nogil:
            malformed = sample_texts(buffer.whole_text(), dereference(self.sample))
        if malformed != NULL:
            raise buffer.not_utf8(malformed)


@final
cdef class SampleSlice:
    """The sentences [first, last) of a sample, with the interface of a read buffer."""

    def __init__(self, ReservoirSample sample not None, size_t first, size_t last):
        self.sample = sample
        self.first = first
        self.last = last

    @property
    def size(self):
        """Size in bytes."""
        return bytes_of(dereference(self.sample.sample), self.first, self.last)

    @property
    def input_size(self):
        """The same as `size`."""
        return self.size

    @property
    def nulls(self):
        """0, because a sample has no nulls."""
        return 0
