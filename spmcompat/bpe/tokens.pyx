"""The tokens and merges of a tokenizer.json, as Hugging Face's BpeTrainer finds them.

For example, byte-level BPE, with the bytes as the first tokens::

    counts = count_letters(words, Letters())
    merges = TokenMerges(words, Letters(), [(code, code) for code in range(256)], texts, workers)
    merges.make(32000)
"""

from cython cimport final
from cython.operator cimport dereference
from libc.stdint cimport uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from spmcompat.plan cimport char32_t
from spmcompat.runtime.threads cimport CCrew, Crew, start_change, start_stage
from spmcompat.segments.corpus cimport CSegmentCounts
from spmcompat.words.words cimport Words

from spmcompat.errors import TooLargeError


cdef extern from "spmcompat/bpe/letters.hpp" namespace "spmcompat" nogil:
    cdef cppclass CLetters "spmcompat::Letters":
        CLetters()
        CLetters(cbool are_bytes, cbool marks_inner, cbool marks_last)
        void keep(const vector[char32_t]& codes) except +

    vector[pair[uint32_t, uint64_t]] cpp_count_letters "spmcompat::count_letters"(
        const CSegmentCounts& words, const CLetters& letters) except +
    uint32_t INNER_MARK "spmcompat::Letters::kInner"
    uint32_t LAST_MARK "spmcompat::Letters::kLast"


cdef extern from "spmcompat/bpe/token_texts.hpp" namespace "spmcompat" nogil:
    cdef cppclass TokenMerge:
        uint32_t left
        uint32_t right
        uint32_t token

    cdef cppclass TokenTexts:
        TokenTexts()
        TokenTexts(vector[string] texts, string prefix) except +
        size_t size()
        const string& operator[](uint32_t token)


cdef extern from "spmcompat/bpe/token_merges.hpp" namespace "spmcompat" nogil:
    cdef cppclass TokenMergeOptions:
        TokenMergeOptions()
        CLetters letters
        vector[pair[uint32_t, uint32_t]] tokens
        TokenTexts texts
        uint64_t least_count
        uint64_t length_limit
        size_t expected

    cdef cppclass CTokenMerges "spmcompat::TokenMerges":
        const TokenTexts& texts()
        const vector[TokenMerge]& merges()

    unique_ptr[CTokenMerges] merges_of_words "spmcompat::TokenMerges::of_words"(
        CSegmentCounts& words, const TokenMergeOptions& options, CCrew& crew)
    void make_merges "&spmcompat::TokenMerges::make"(size_t wanted, CCrew& crew)


INNER = INNER_MARK
LAST = LAST_MARK


@final
cdef class Letters:
    """How words are divided into the letters with which merges begin.

    The code of a letter is its byte or its code point. With marks, it also contains `INNER` if the
    letter does not begin its word, or `LAST` if the letter ends its word.

    Parameters
    ----------
    are_bytes : bool, optional
        Whether letters are bytes. Otherwise, they are characters.
    marks_inner, marks_last : bool, optional
        Whether codes contain these marks.
    kept : iterable of int, optional
        The codes, without marks, of the letters that are not dropped from words; by default, none
        is dropped.
    """

    cdef CLetters letters

    def __init__(self, bint are_bytes=True, bint marks_inner=False, bint marks_last=False,
                 kept=None):
        self.letters = CLetters(are_bytes, marks_inner, marks_last)
        cdef vector[char32_t] codes
        cdef char32_t code
        if kept is not None:
            for code in kept:
                codes.push_back(code)
            self.letters.keep(codes)


def count_letters(Words words not None, Letters letters not None):
    """Return the code and the count of each letter, in the order of the codes."""
    cdef vector[pair[uint32_t, uint64_t]] counts
    with nogil:
        counts = cpp_count_letters(words.words, letters.letters)
    return counts


@final
cdef class TokenMerges:
    """The merges of words: each joins the most frequent pair of neighbouring tokens.

    Of two pairs with the same count, the one with the smaller ids comes first. A merge whose text
    is already a token gets the id of that token, and is still made.

    Parameters
    ----------
    words : Words
        The words. Afterwards, `words` is empty.
    letters : Letters
        How words are divided into letters.
    tokens : iterable of (int, int)
        The code of each letter, and the id of its token.
    texts : iterable of bytes
        The texts of the first tokens, by id. They must be distinct.
    workers : Workers
        The worker threads. All of them fill the text and look for its pairs; one of them merges.
    prefix : bytes, optional
        The affix of letters inside words. It is dropped from the right part of a merge.
    least_count : int, optional
        Pairs that occur less often are not merged; at least 1.
    length_limit : int, optional
        A merge of more than two letters must have fewer letters than this.
    expected : int, optional
        The approximate number of merges. It only affects time and memory.
    """

    cdef Crew crew
    cdef unique_ptr[CTokenMerges] found

    def __init__(
        self, Words words not None, Letters letters not None, tokens, texts, workers not None, *,
        bytes prefix=b"", uint64_t least_count=1, uint64_t length_limit=2**64 - 1,
        size_t expected=30000,
    ):
        cdef TokenMergeOptions options
        options.letters = letters.letters
        options.tokens = tokens
        cdef vector[string] first = texts
        options.texts = TokenTexts(first, prefix)
        options.least_count = least_count
        options.length_limit = length_limit
        options.expected = expected
        self.crew = workers.crew
        start_stage(
            dereference(self.crew.crew), self.found, merges_of_words, words.words, options)
        try:
            self.crew.await_stage()
        except OverflowError as error:
            raise TooLargeError(
                f"{error}: it has 2**31 letters or more. Give less text.") from None
        words.words = CSegmentCounts()

    def make(self, size_t wanted):
        """Make merges until there are `wanted` tokens, or no pair is left.

        Returns the number of tokens.
        """
        start_change(dereference(self.crew.crew), dereference(self.found), make_merges, wanted)
        self.crew.await_stage()
        return dereference(self.found).texts().size()

    def texts(self):
        """Return the texts of all tokens as bytes, by id."""
        cdef const TokenTexts* texts = &dereference(self.found).texts()
        cdef uint32_t token
        return [bytes(dereference(texts)[token]) for token in range(dereference(texts).size())]

    def merges(self):
        """Return (left, right, token) for each merge: the ids of its parts and of the result."""
        cdef const vector[TokenMerge]* merges = &dereference(self.found).merges()
        cdef const TokenMerge* merge
        cdef size_t i
        found = []
        for i in range(dereference(merges).size()):
            merge = &dereference(merges)[i]
            found.append((merge.left, merge.right, merge.token))
        return found
