"""The distinct words of a text with their counts.

For example::

    counter = WordCounter("gpt2")
    counter.count(buffer)
    words = Words()
    words.add(counter, workers.cancel)
"""

from cpython.bytes cimport (
    PyBytes_AS_STRING,
    PyBytes_FromStringAndSize,
    PyBytes_GET_SIZE,
)
from cython cimport final
from cython.operator cimport dereference
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

from spmcompat.runtime.threads cimport CancelFlag, CCancelFlag
from spmcompat.segments.corpus cimport CSegmentCounts
from spmcompat.splitting.scanners cimport CBertOptions, Scanner, scanner_named
from spmcompat.text.lines cimport BufferText, ReadBuffer


cdef extern from "spmcompat/words/word_counter.hpp" namespace "spmcompat" nogil:
    cdef cppclass CWordCounter "spmcompat::WordCounter":
        CWordCounter(Scanner scanner, cbool adds_space, cbool normalizes) except +
        CWordCounter(const CBertOptions& options) except +
        void move_to(CSegmentCounts& words, const CCancelFlag& cancel) except +

    CSegmentCounts no_words() except +
    const char* count_texts(const BufferText& buffer, CWordCounter& counter) except +


cdef extern from "spmcompat/words/word_rows.hpp" namespace "spmcompat" nogil:
    cdef cppclass WordRows:
        string text
        vector[int64_t] ends
        vector[int64_t] counts

    WordRows sorted_rows(const CSegmentCounts& words) except +
    void add_rows(
        const char* text, const int64_t* ends, const int64_t* counts, size_t size,
        CSegmentCounts& words) except +


@final
cdef class WordCounter:
    """Counts the words of the texts that one worker reads.

    Parameters
    ----------
    scanner : str or BertOptions
        How texts are cut into words: a name from `spmcompat.splitting.expressions`, or the options
        of BERT.
    adds_space : bool, optional
        Whether a text that does not begin with a space is read as if it did. For BERT, this changes
        nothing.
    normalizes : bool, optional
        Whether texts are normalized with NFC before they are cut. BERT's own normalizer is used
        instead of it.
    """

    cdef unique_ptr[CWordCounter] counter

    def __init__(self, scanner not None, bint adds_space=False, bint normalizes=False):
        cdef CBertOptions options
        if isinstance(scanner, str):
            self.counter.reset(new CWordCounter(scanner_named(scanner), adds_space, normalizes))
        else:
            options = scanner._asdict()
            self.counter.reset(new CWordCounter(options))

    def count(self, ReadBuffer buffer not None):
        """Count the words of a read buffer. Lines of a file include their ends.

        Raises
        ------
        NotUtf8Error
            If a line or an item is not well-formed UTF-8.
        """
        cdef const char* malformed
        with nogil:
            malformed = count_texts(buffer.whole_text(), dereference(self.counter))
        if malformed != NULL:
            raise buffer.not_utf8(malformed)


@final
cdef class Words:
    """The distinct words of a text with their counts. Workers can add to them at the same time."""

    def __cinit__(self):
        self.words = no_words()

    def add(self, WordCounter counter not None, CancelFlag cancel not None):
        """Move the words of a worker to this object."""
        with nogil:
            dereference(counter.counter).move_to(self.words, cancel.flag)

    def add_word(self, bytes word not None, uint64_t count):
        """Add to the count of a word, which must not be empty."""
        self.words.add(string_view(PyBytes_AS_STRING(word), PyBytes_GET_SIZE(word)), count)

    def rows(self):
        """Return the rows of the words, sorted by the bytes of the words, as three buffers.

        Returns
        -------
        ends : bytes
            The end of each word in the text, after a 0 (int64).
        text : bytes
            All words.
        counts : bytes
            How often each word occurs (int64).
        """
        cdef WordRows rows
        with nogil:
            rows = sorted_rows(self.words)
        return (
            PyBytes_FromStringAndSize(
                <const char*>rows.ends.data(), rows.ends.size() * sizeof(int64_t)),
            <bytes>rows.text,
            PyBytes_FromStringAndSize(
                <const char*>rows.counts.data(), rows.counts.size() * sizeof(int64_t)))

    def add_rows(self, const int64_t[::1] ends, const uint8_t[::1] text, const int64_t[::1] counts):
        """Add rows, such as those that `rows` returns. They are not checked; there must be one.

        Parameters
        ----------
        ends : buffer of int64, shape (n + 1,)
            The beginning of the first word in the text, and the end of each word.
        text : buffer of uint8
            The words, none of which is empty.
        counts : buffer of int64, shape (n,)
            How often each word occurs.
        """
        with nogil:
            add_rows(<const char*>&text[0], &ends[0], &counts[0], counts.shape[0], self.words)
