"""The tokens and merges of a tokenizer.json, as Hugging Face's BpeTrainer finds them.

For example, byte-level BPE, with the bytes as the first tokens::

    first = FirstTokens(Letters(), [(code, code) for code in range(256)], texts)
    tokens, merges = find_tokens(words, first, 32000, workers)
"""

from cython cimport final
from cython.operator cimport dereference
from libc.stdint cimport uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from spmcompat.plan cimport char32_t
from spmcompat.runtime.threads cimport CCrew, Crew, start_stage
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

    cdef cppclass FoundTokens:
        FoundTokens()
        TokenTexts texts
        vector[TokenMerge] merges

    FoundTokens cpp_find_tokens "spmcompat::find_tokens"(
        CSegmentCounts& words, const TokenMergeOptions& options, size_t wanted, CCrew& crew)


cdef extern from "spmcompat/bpe/language_chooser.hpp" namespace "spmcompat" nogil:
    cdef cppclass ChooserOptions:
        vector[double] ratios
        size_t window
        double largest_share


cdef extern from "spmcompat/bpe/paired_texts.hpp" namespace "spmcompat" nogil:
    cdef cppclass LanguageSegments:
        LanguageSegments()
        CSegmentCounts* training
        CSegmentCounts* development


cdef extern from "spmcompat/bpe/parity_tokens.hpp" namespace "spmcompat" nogil:
    cdef cppclass ParityTokenOptions:
        ParityTokenOptions()
        size_t wanted
        size_t first_merges
        ChooserOptions chooser

    cdef cppclass ParityTokens(FoundTokens):
        ParityTokens()
        cbool library_would_end

    ParityTokens cpp_find_parity_tokens "spmcompat::find_parity_tokens"(
        const vector[LanguageSegments]& words, const TokenMergeOptions& options,
        const ParityTokenOptions& parity, CCrew& crew)


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
cdef class FirstTokens:
    """The tokens before the first merge, and the rules for merges.

    Parameters
    ----------
    letters : Letters
        How words are divided into letters.
    tokens : iterable of (int, int)
        The code of each letter, and the id of its token.
    texts : iterable of bytes
        The texts of the first tokens, by id. They must be distinct.
    prefix : bytes, optional
        The affix of letters inside words. It is dropped from the right part of a merge.
    least_count : int, optional
        Pairs that occur less often are not merged; at least 1.
    length_limit : int, optional
        A merge of more than two letters must have fewer letters than this.
    """

    cdef TokenMergeOptions options

    def __init__(
        self, Letters letters not None, tokens, texts, *, bytes prefix=b"", uint64_t least_count=1,
        length_limit=None,
    ):
        cdef vector[string] first = texts
        self.options.letters = letters.letters
        self.options.tokens = tokens
        self.options.texts = TokenTexts(first, prefix)
        self.options.least_count = least_count
        self.options.length_limit = 2**64 - 1 if length_limit is None else length_limit

    def __len__(self):
        return self.options.texts.size()


def find_tokens(
    Words words not None, FirstTokens first not None, size_t wanted, workers not None, *,
    stage=None,
):
    """Merge the most frequent pair of neighbouring tokens until there are enough tokens.

    Of two pairs with the same count, the one with the smaller ids comes first. A merge whose text
    is already a token gets the id of that token, and is still made.

    Parameters
    ----------
    words : Words
        The words. Afterwards, `words` is empty.
    first : FirstTokens
        The tokens before the first merge.
    wanted : int
        The number of all tokens.
    workers : Workers
        The worker threads. All of them fill the text and look for its pairs; one of them merges.
    stage : Stage, optional
        Shows the progress, in merges.

    Returns
    -------
    texts : list of str
        The texts of all tokens, by id; fewer than wanted if no pair is left.
    merges : list of (int, int, int)
        The ids of the parts and of the result of each merge.
    """
    cdef Crew crew = workers.crew
    cdef FoundTokens found
    start_stage(
        dereference(crew.crew), found, cpp_find_tokens, words.words, first.options, wanted)
    await_tokens(crew, stage)
    return texts_and_merges(found)


def find_parity_tokens(
    languages, FirstTokens first not None, size_t wanted, workers not None, *,
    size_t first_merges=0, ratios=(), size_t window=0, double largest_share=0, stage=None,
):
    """Make parity-aware merges: the language with the highest cost chooses each pair.

    `first`, `workers` and `stage` are those of `find_tokens`.

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

    Returns
    -------
    texts, merges
        As for `find_tokens`; there are fewer merges than wanted if no pair is left.
    library_would_end : bool
        Whether Hugging Face's trainer would ever end.
    """
    cdef Crew crew = workers.crew
    cdef vector[LanguageSegments] words
    cdef LanguageSegments one
    cdef Words training, development
    cdef ParityTokenOptions options
    cdef ParityTokens found
    for training, development in languages:
        one.training = &training.words
        one.development = NULL
        if development is not None:
            one.development = &development.words
        words.push_back(one)
    options.wanted = wanted
    options.first_merges = first_merges
    options.chooser.ratios = ratios
    options.chooser.window = window
    options.chooser.largest_share = largest_share
    start_stage(
        dereference(crew.crew), found, cpp_find_parity_tokens, words, first.options, options)
    await_tokens(crew, stage)
    return *texts_and_merges(found), found.library_would_end


cdef await_tokens(Crew crew, stage):
    try:
        crew.await_stage(stage)
    except OverflowError as error:
        raise TooLargeError(f"{error}: it has 2**31 letters or more. Give less text.") from None


cdef texts_and_merges(const FoundTokens& found):
    cdef uint32_t token
    cdef size_t i
    texts = [bytes(found.texts[token]).decode() for token in range(found.texts.size())]
    merges = [
        (found.merges[i].left, found.merges[i].right, found.merges[i].token)
        for i in range(found.merges.size())]
    return texts, merges
