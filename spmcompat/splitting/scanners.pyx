"""Splitting into words and chunks (scanners.hpp, chunks.hpp), for tests.

Training uses the C++ functions. These bindings are part of the package so that the tests can also
be run against an installed package.
"""

from libcpp cimport bool as cbool
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector


cdef extern from "spmcompat/unicode/well_formed.hpp" namespace "spmcompat" nogil:
    cbool is_utf8(string_view text)


cdef extern from "spmcompat/splitting/chunks.hpp" namespace "spmcompat" nogil:
    vector[string_view] chunks_of(string_view text) except +


cdef extern from "spmcompat/splitting/scanners.hpp" namespace "spmcompat" nogil:
    vector[string_view] words_of(Scanner scanner, string_view text) except +


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
