"""The Python binding of scripts.hpp, for tests."""

from libc.stdint cimport uint32_t


cdef extern from "spmcompat/unicode/scripts.hpp" namespace "spmcompat" nogil:
    int cpp_script_of "spmcompat::script_of"(uint32_t c)
    int kScriptCommon
    int kScriptInherited
    int kScriptHan
    int kScriptHiragana
    int kScriptKatakana


COMMON = kScriptCommon
INHERITED = kScriptInherited
HAN = kScriptHan
HIRAGANA = kScriptHiragana
KATAKANA = kScriptKatakana


def script_of(uint32_t code_point):
    """Return the number of the Unicode script of a code point.

    Parameters
    ----------
    code_point : int
        From 0 to 2**32 - 1.

    Returns
    -------
    int
        The script in the table of sentencepiece 0.2.3, or COMMON if the table does not contain the
        code point. The numbers are specific to this package.
    """
    return cpp_script_of(code_point)
