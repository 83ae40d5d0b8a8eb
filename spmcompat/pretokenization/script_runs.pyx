"""Scripts and runs of one script (scripts.hpp, script_runs.hpp), for tests.

Training uses the C++ functions. These bindings are part of the package so that the tests can also
be run against an installed package.
"""

from libc.stdint cimport uint32_t
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string

from spmcompat.releases import DEFAULT


cdef extern from "spmcompat/unicode/scripts.hpp" namespace "spmcompat" nogil:
    int cpp_script_of "spmcompat::script_of"(uint32_t c)
    int kScriptCommon
    int kScriptInherited
    int kScriptHan
    int kScriptHiragana
    int kScriptKatakana


cdef extern from "spmcompat/pretokenization/script_runs.hpp" namespace "spmcompat" nogil:
    cdef cppclass ScriptRuns:
        ScriptRuns() except +
        void mark(string text, uint32_t boundary, string& out) except +


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
        The number of the script that the table of sentencepiece 0.2.3 gives, or COMMON if the
        table does not contain the code point. This package defines the numbers.
    """
    return cpp_script_of(code_point)


def script_runs(str text not None):
    """Cut a text as ``pretokenizer=script`` does.

    Parameters
    ----------
    text : str
        A normalized text, with the space mark (U+2581) for spaces and without boundary marks.

    Returns
    -------
    list of str
        The runs of the text. All characters of a run have one script and one class.
    """
    cdef unique_ptr[ScriptRuns] runs
    cdef string marked
    runs.reset(new ScriptRuns())
    runs.get().mark(text.encode(), DEFAULT.boundary, marked)
    return marked.decode().split(chr(DEFAULT.boundary))
