"""Splitting into words, chunks and parts (scanners.hpp, bert.hpp, chunks.hpp), and NFC, for tests.

Training uses the C++ functions. These bindings are part of the package so that the tests can also
be run against an installed package.
"""

from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector


cdef extern from "spmcompat/unicode/well_formed.hpp" namespace "spmcompat" nogil:
    cbool is_utf8(string_view text)


cdef extern from "spmcompat/splitting/chunks.hpp" namespace "spmcompat" nogil:
    vector[string_view] chunks_of(string_view text) except +


cdef extern from "spmcompat/splitting/scanners.hpp" namespace "spmcompat" nogil:
    vector[string_view] words_of(Scanner scanner, string_view text) except +


cdef extern from "spmcompat/splitting/bert.hpp" namespace "spmcompat" nogil:
    vector[string] bert_words_of(string_view text, const CBertOptions& options) except +
    vector[string_view] bert_parts_of(string_view text, const CBertOptions& options) except +


cdef extern from "spmcompat/splitting/nfc.hpp" namespace "spmcompat" nogil:
    string nfc_of(string_view text) except +


cdef CBertOptions bert_options(options) except *:
    cdef CBertOptions found
    found.clean_text = options.clean_text
    found.handle_chinese_chars = options.handle_chinese_chars
    found.lowercase = options.lowercase
    found.strip_accents = found.lowercase
    if options.strip_accents is not None:
        found.strip_accents = options.strip_accents
    return found


cdef Scanner scanner_named(str name) except *:
    if name == "gpt2":
        return Scanner.kGpt2
    if name == "cl100k":
        return Scanner.kCl100k
    if name == "o200k":
        return Scanner.kO200k
    if name == "llama3":
        return Scanner.kLlama3
    if name == "qwen2":
        return Scanner.kQwen2
    raise ValueError(f"no scanner is named {name}")


cdef string_view checked(bytes text) except *:
    cdef string_view view = string_view(<const char*>text, len(text))
    if not is_utf8(view):
        raise ValueError("the text is not well-formed UTF-8")
    return view


def words(str scanner not None, bytes text not None):
    """Split a text into words.

    Parameters
    ----------
    scanner : str
        The name of a scanner, one of the values of ``EXPRESSIONS``.
    text : bytes
        A text in well-formed UTF-8.

    Returns
    -------
    list of bytes
        The words, which are the text when they are joined.
    """
    return words_of(scanner_named(scanner), checked(text))


def chunks(bytes text not None):
    """Cut a text into chunks, whose words are those of the text.

    Parameters
    ----------
    text : bytes
        A text in well-formed UTF-8.

    Returns
    -------
    list of bytes
        The chunks, which are the text when they are joined.
    """
    return chunks_of(checked(text))


def bert_words(options not None, bytes text not None):
    """Split a text into words as BERT does.

    Parameters
    ----------
    options : BertOptions
        The options of the normalizer.
    text : bytes
        A text in well-formed UTF-8.

    Returns
    -------
    list of bytes
        The normalized words.
    """
    return bert_words_of(checked(text), bert_options(options))


def bert_parts(options not None, bytes text not None):
    """Cut a text into parts, whose words are those of the text.

    Parameters
    ----------
    options : BertOptions
        The options of the normalizer.
    text : bytes
        A text in well-formed UTF-8.

    Returns
    -------
    list of bytes
        The parts, without white space between them.
    """
    return bert_parts_of(checked(text), bert_options(options))


def nfc(bytes text not None):
    """Normalize a text with NFC.

    Parameters
    ----------
    text : bytes
        A text in well-formed UTF-8.

    Returns
    -------
    bytes
        The normalized text.
    """
    return nfc_of(checked(text))
