"""The distinct words of a text with their counts.

For example::

    counter = WordCounter("gpt2")
    counter.count(buffer)
    words = Words()
    words.add(counter, workers.cancel)
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cython cimport final
from cython.operator cimport dereference
from libc.stdint cimport uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from spmcompat.runtime.threads cimport CancelFlag, CCancelFlag
from spmcompat.segments.corpus cimport CSegmentCounts
from spmcompat.splitting.scanners cimport Scanner, scanner_named
from spmcompat.text.lines cimport ReadBuffer


cdef extern from "spmcompat/words/word_counter.hpp" namespace "spmcompat" nogil:
    cdef cppclass CWordCounter "spmcompat::WordCounter":
        CWordCounter(Scanner scanner, cbool adds_space) except +
        void move_to(CSegmentCounts& words, const CCancelFlag& cancel) except +

    CSegmentCounts no_words() except +
    vector[pair[string, uint64_t]] list_words(const CSegmentCounts& words) except +
    const char* count_lines_of_words(string_view text, CWordCounter& counter) except +
    const char* count_items_of_words(
        const string& items, const vector[size_t]& ends, CWordCounter& counter) except +


@final
cdef class WordCounter:
    """Counts the words of the texts that one worker reads.

    Parameters
    ----------
    scanner : str
        How texts are cut into words: a name from `spmcompat.splitting.expressions`.
        adds_space : bool, optional
        Whether a text that does not begin with a space is read as if it did.
    """

    cdef unique_ptr[CWordCounter] counter

    def __init__(self, str scanner not None, bint adds_space=False):
        self.counter.reset(new CWordCounter(scanner_named(scanner), adds_space))

    def count(self, ReadBuffer buffer not None):
        """Count the words of a read buffer. Lines of a file include their ends.

        Raises
        ------
        NotUtf8Error
            If a line or an item is not well-formed UTF-8.
        """
        cdef const char* malformed
        with nogil:
            if buffer.is_lines:
                malformed = count_lines_of_words(
                    string_view(buffer.text, buffer.text_size), dereference(self.counter))
            else:
                malformed = count_items_of_words(
                    buffer.items, buffer.ends, dereference(self.counter))
        if malformed != NULL:
            raise buffer.not_utf8(malformed)


@final
cdef class Words:
    """The distinct words of a text with their counts. Workers can add to them at the same time."""

    def __init__(self):
        self.words = no_words()

    def add(self, WordCounter counter not None, CancelFlag cancel not None):
        """Move the words of a worker to this object."""
        with nogil:
            dereference(counter.counter).move_to(self.words, cancel.flag)

    def add_word(self, bytes word not None, uint64_t count):
        """Add to the count of a word, which must not be empty."""
        self.words.add(string_view(PyBytes_AS_STRING(word), PyBytes_GET_SIZE(word)), count)

    def items(self):
        """Return the words (bytes) with their counts, in no particular order."""
        return list_words(self.words)
