"""What the trainers read: distinct segments, with or without the pretokens that consist of them.

The classes own the C++ objects of segmented_corpus.hpp and segment_counts.hpp.
"""

from cython cimport final

from libcpp.utility cimport move

from spmcompat.errors import TrainingError


@final
cdef class SegmentCounts:
    """Distinct segments and how often each occurs in the text."""

    @staticmethod
    cdef SegmentCounts of_rule(const PretokenRule& rule):
        """Return empty counts, for segments of pretokens that this rule cuts."""
        cdef SegmentCounts counts = SegmentCounts()
        counts.rule = rule
        return counts

    def __len__(self):
        return self.segments.size()

    def add(self, SegmentCounts other not None):
        """Add the counts of other segments."""
        with nogil:
            self.segments.add(other.segments)

    cdef fail(self, error):
        """Raise the error of a pretoken that is too long."""
        raise TrainingError(
            f"{error}: this release of sentencepiece counts its positions in 16 bits, up to "
            f"{self.rule.bpe_longest_pretoken} characters. Lower --max_sentence_length, or choose "
            "another release with compat."
        ) from None


@final
cdef class Corpus:
    """Distinct segments, the pretokens they make up, and the alphabet.

    Attributes
    ----------
    alphabet : list of (int, int)
        Required characters (code points) with their counts, by count descending.
    text_bytes : float
        Size of the normalized text, with one more byte at the end of each sentence.
    chunks : iterable of Corpus, or None
        The seeding chunks, if the text is too large for one search of seeds.
    seed_text : Corpus or None
        The text in which seeds are looked for, and its characters, if it is another one.
    """

    @property
    def pretokens(self):
        """Number of pretokens: distinct ones, or sentences where pieces may cross white space."""
        return self.segmented.pretoken_count.size()

    @property
    def total_count(self):
        """The counts of all pretokens added up; the sum wraps at 2**64."""
        cdef uint64_t total = 0
        cdef int64_t count
        for count in self.segmented.pretoken_count:
            total += count
        return total

    def counted_pretokens(self):
        """Yield each pretoken (bytes) and its count, by count descending, then bytes ascending.

        Where pieces may cross white space, these are the sentences in the order of the text.
        """
        cdef size_t i
        for i in range(self.segmented.pretoken_count.size()):
            count = <uint64_t>self.segmented.pretoken_count[i]
            yield bytes(self.segmented.pretoken_text(i)), count

    @property
    def segments(self):
        """Number of distinct segments."""
        return self.segmented.segments_size()

    def segment_texts(self):
        """Return the texts of all distinct segments (bytes), in the order of their numbers."""
        cdef uint32_t i
        return [
            bytes(self.segmented.segment_text(i)) for i in range(self.segmented.segments_size())]

    def segments_of_pretokens(self):
        """Return how many segments each pretoken has, and the numbers of these segments.

        The pretokens are in the order of `counted_pretokens`.
        """
        cdef size_t i
        lengths = [
            self.segmented.pretoken_begin[i + 1] - self.segmented.pretoken_begin[i]
            for i in range(self.segmented.pretoken_count.size())]
        return lengths, self.segmented.pretoken_segments

    def bpe_segments(self):
        """Return the `SegmentCounts` in the order in which segments first occur in the pretokens.

        The corpus is empty afterwards.

        Raises
        ------
        TrainingError
            For a pretoken that is too long for the release.
        """
        cdef SegmentCounts found = SegmentCounts.of_rule(self.pretoken_rule)
        try:
            with nogil:
                found.segments = count_bpe_segments(move(self.segmented), found.rule)
                self.segmented = SegmentedCorpus()
        except RuntimeError as error:
            found.fail(error)
        return found

    def segment_counts(self):
        """Return the `SegmentCounts`, and leave the corpus as it is.

        Neither `drop_uses` nor `drop_texts` may have been called before.
        """
        cdef SegmentCounts found = SegmentCounts.of_rule(self.pretoken_rule)
        with nogil:
            found.segments = count_segments(self.segmented)
        return found

    def drop_uses(self):
        """Free what only the search for seeds needs."""
        self.segmented.uses.clear()
        self.segmented.uses.shrink_to_fit()

    def drop_texts(self):
        """Free the texts of the segments. `segments` is 0 afterwards."""
        self.segmented.segments = StringList()
