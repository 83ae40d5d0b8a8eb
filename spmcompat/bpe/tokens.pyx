"""The tokens and merges of a tokenizer.json, as Hugging Face's BpeTrainer finds them.

For example, byte-level BPE, with the bytes as the first tokens::

    counts = count_letters([words], Letters())
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
        const vector[const CSegmentCounts*]& texts, const CLetters& letters) except +
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
        void finish()

    unique_ptr[CTokenMerges] merges_of_words "spmcompat::TokenMerges::of_words"(
        CSegmentCounts& words, const TokenMergeOptions& options, CCrew& crew)
    void make_merges "&spmcompat::TokenMerges::make"(size_t wanted, CCrew& crew)


cdef extern from "spmcompat/bpe/language_chooser.hpp" namespace "spmcompat" nogil:
    cdef cppclass ChooserOptions:
        vector[double] ratios
        size_t window
        double largest_share


cdef extern from "spmcompat/bpe/parity_tokens.hpp" namespace "spmcompat" nogil:
    cdef cppclass LanguageWords:
        LanguageWords()
        CSegmentCounts* training
        CSegmentCounts* development

    cdef cppclass ParityTokenMergeOptions(TokenMergeOptions):
        ParityTokenMergeOptions()
        size_t wanted
        size_t first_merges
        ChooserOptions chooser

    cdef cppclass ParityTokens:
        ParityTokens()
        TokenTexts texts
        vector[TokenMerge] merges
        cbool library_would_end

    ParityTokens cpp_parity_tokens "spmcompat::parity_tokens"(
        const vector[LanguageWords]& words, const ParityTokenMergeOptions& options, CCrew& crew)


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


def count_letters(texts, Letters letters not None):
    """Return the code and the count of each letter in several `Words`, by code."""
    cdef vector[const CSegmentCounts*] words
    cdef Words text
    cdef vector[pair[uint32_t, uint64_t]] counts
    texts = [*texts]
    for text in texts:
        words.push_back(&text.words)
    with nogil:
        counts = cpp_count_letters(words, letters.letters)
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
            raise _too_large(error) from None
        words.words = CSegmentCounts()

    def make(self, size_t wanted):
        """Make merges until there are `wanted` tokens, or no pair is left.

        Returns the number of tokens.
        """
        start_change(dereference(self.crew.crew), dereference(self.found), make_merges, wanted)
        self.crew.await_stage()
        return dereference(self.found).texts().size()

    def finish(self):
        """Free the memory that only `make` needs. Nothing can be merged afterwards."""
        with nogil:
            dereference(self.found).finish()

    def texts(self):
        """Return the texts of all tokens as bytes, by id."""
        return list_texts(dereference(self.found).texts())

    def merges(self):
        """Return (left, right, token) for each merge: the ids of its parts and of the result."""
        return list_merges(dereference(self.found).merges())


def parity_tokens(
    languages, Letters letters not None, tokens, texts, workers not None, *, size_t wanted,
    bytes prefix=b"", uint64_t least_count=1, uint64_t length_limit=2**64 - 1,
    size_t first_merges=0, ratios=(), size_t window=0, double largest_share=0, stage=None,
):
    """Make parity-aware merges: the language with the highest cost chooses each pair.

    `letters`, `tokens`, `texts`, `workers`, `prefix`, `least_count` and `length_limit` are those of
    `TokenMerges`.

    Parameters
    ----------
    languages : sequence of (Words, Words or None)
        For each language: the words for training, and its development words, or None for all
        languages. Afterwards, they are empty. No two of them may be the same object.
    wanted : int
        The number of merges.
    first_merges : int, optional
        The number of merges at the beginning that are chosen by the count of a pair in all
        languages together.
    ratios : sequence of float, optional
        The ratio of each language. Without ratios, the cost of a language is its number of tokens.
    window, largest_share : int and float, optional
        If `window` is above 0, a language cannot choose if its share of the last `window` choices
        is above `largest_share`.
    stage : Stage, optional
        Shows the progress.

    Returns
    -------
    texts : list of bytes
        The texts of all tokens, by id.
    merges : list of (int, int, int)
        The ids of the parts and of the result of each merge; fewer than wanted if no pair is left.
    library_would_end : bool
        Whether Hugging Face's trainer would ever end.
    """
    cdef Crew crew = workers.crew
    cdef vector[LanguageWords] words
    cdef LanguageWords one
    cdef Words training, development
    cdef ParityTokenMergeOptions options
    cdef vector[string] first = texts
    cdef ParityTokens found
    for training, development in languages:
        one.training = &training.words
        one.development = NULL
        if development is not None:
            one.development = &development.words
        words.push_back(one)
    options.letters = letters.letters
    options.tokens = tokens
    options.texts = TokenTexts(first, prefix)
    options.least_count = least_count
    options.length_limit = length_limit
    options.wanted = wanted
    options.first_merges = first_merges
    options.chooser.ratios = ratios
    options.chooser.window = window
    options.chooser.largest_share = largest_share
    start_stage(dereference(crew.crew), found, cpp_parity_tokens, words, options)
    try:
        crew.await_stage(stage)
    except OverflowError as error:
        raise _too_large(error) from None
    return list_texts(found.texts), list_merges(found.merges), found.library_would_end


cdef list_texts(const TokenTexts& texts):
    cdef uint32_t token
    return [bytes(texts[token]) for token in range(texts.size())]


cdef list_merges(const vector[TokenMerge]& merges):
    cdef size_t i
    return [(merges[i].left, merges[i].right, merges[i].token) for i in range(merges.size())]


def _too_large(error):
    return TooLargeError(f"{error}: it has 2**31 letters or more. Give less text.")
