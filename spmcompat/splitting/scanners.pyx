"""Splitting into words, chunks and parts (scanners.hpp, bert.hpp, chunks.hpp), and NFC, for tests.

Training uses the C++ functions. These bindings are part of the package so that the tests can also
be run against an installed package.
"""

from libc.stdint cimport uint8_t
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


# In the order of the enum in scanners.hpp.
SCANNERS = ("gpt2", "cl100k", "o200k", "llama3", "qwen2")


cdef Scanner scanner_named(str name) except *:
    if name not in SCANNERS:
        raise ValueError(f"no scanner is named {name}")
    return <Scanner><uint8_t>SCANNERS.index(name)


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
    return bert_words_of(checked(text), options._asdict())


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
    return bert_parts_of(checked(text), options._asdict())


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
