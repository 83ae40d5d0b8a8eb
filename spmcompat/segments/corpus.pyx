"""What the trainers read: a text as distinct segments, with the words they make up or alone.

segmented_corpus.hpp and segment_counts.hpp hold it; here stand the owners of their objects.
"""

from cython cimport final

from libcpp.utility cimport move

from spmcompat.errors import TrainingError


cdef extern from *:
    """
    #include <cstdlib>
    #ifdef __GLIBC__
    #include <malloc.h>
    #endif
    namespace spmcompat {
    inline void return_freed_memory() {
    #ifdef __GLIBC__
      mallopt(M_MMAP_THRESHOLD, 1 << 17);
      malloc_trim(0);
    #endif
    }
    }
    """
    void c_return_freed_memory "spmcompat::return_freed_memory"() nogil


def return_freed_memory():
    """Give the system back what is free, and from now on every large block when it is freed.

    The GNU C library keeps small blocks, and raises the size that it calls large with every such
    block, up to 32 MiB.
    """
    with nogil:
        c_return_freed_memory()


@final
cdef class SegmentCounts:
    """Distinct segments and how often each stands in the text."""

    @staticmethod
    cdef SegmentCounts empty(const PieceRule& pieces, bytes delimiter, size_t longest):
        """No segments yet, of words that these rules cut."""
        cdef SegmentCounts counts = SegmentCounts()
        counts.rule.pieces = pieces
        counts.rule.delimiter = delimiter
        counts.rule.longest = longest
        return counts

    def __len__(self):
        return self.segments.size()

    def add(self, SegmentCounts other not None):
        """Add the counts of other segments."""
        with nogil:
            self.segments.add(other.segments)

    cdef _fail(self, error):
        raise TrainingError(
            f"{error}: this release of sentencepiece counts its places in 16 bits, up to "
            f"{self.rule.longest} characters. Lower --max_sentence_length, or choose another "
            "release with compat."
        ) from None


@final
cdef class Corpus:
    """Distinct segments, the words they make up, and the characters required.

    Attributes
    ----------
    alphabet : list of (int, int)
        Required characters (code points) with their counts, by count descending.
    text_bytes : float
        Size of the normalized text, with one more byte at the end of each sentence.
    chunks : iterable of Corpus, or None
        The chunks in which seeds are looked for, if the text is too large for one.
    seed_text : Corpus or None
        The text in which seeds are looked for, and its characters, if it is another one.
    """

    @property
    def words(self):
        """Number of words: distinct ones, or sentences where pieces may lie across words."""
        return self.segmented.word_count.size()

    @property
    def total_count(self):
        """The counts of all words added up; the sum wraps at 2**64."""
        cdef uint64_t total = 0
        cdef int64_t count
        for count in self.segmented.word_count:
            total += count
        return total

    def counted_words(self):
        """Yield each word (bytes) and its count, by count descending, then bytes ascending.

        Where pieces may lie across words, sentences take the place of words.
        """
        cdef size_t i
        for i in range(self.segmented.word_count.size()):
            yield bytes(self.segmented.word_text(i)), <uint64_t>self.segmented.word_count[i]

    @property
    def segments(self):
        """Number of distinct segments."""
        return self.segmented.segments_size()

    def cut(self, bytes delimiter=b"", size_t longest=0):
        """Return the `SegmentCounts` in the order in which segments first stand in the words.

        Nothing of the corpus is left then.

        Parameters
        ----------
        delimiter : bytes, optional
            Words are cut there too.
        longest : int, optional
            How many places of a word can be counted; 0 for any number.

        Raises
        ------
        TrainingError
            For a longer word.
        """
        cdef SegmentCounts found = SegmentCounts.empty(self.rule, delimiter, longest)
        try:
            with nogil:
                found.segments = cut_words(move(self.segmented), found.rule)
                self.segmented = SegmentedCorpus()
        except RuntimeError as error:
            found._fail(error)
        return found

    def segment_counts(self):
        """Return the `SegmentCounts` while nothing was dropped; all of the corpus is left."""
        cdef SegmentCounts found = SegmentCounts.empty(self.rule, b"", 0)
        with nogil:
            found.segments = count_segments(self.segmented)
        return found

    def drop_uses(self):
        """Free what only the search for seeds needs."""
        self.segmented.uses.clear()
        self.segmented.uses.shrink_to_fit()

    def drop_texts(self):
        """Free the texts of the segments, and with them their number."""
        self.segmented.segments = StringList()
