"""The Python face of script_runs.hpp, for tests; training uses the C++ class."""

from libc.stdint cimport uint32_t
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string


cdef extern from "spmcompat/pretokenization/script_runs.hpp" namespace "spmcompat" nogil:
    cdef cppclass ScriptRuns:
        ScriptRuns() except +
        void mark(string text, uint32_t boundary, string& out) except +


cdef uint32_t BOUNDARY = 0x1F


def script_runs(str text not None):
    """Cut a text as ``pretokenizer=script`` does.

    Parameters
    ----------
    text : str
        A normalized text, with U+2581 for spaces and without U+001F.

    Returns
    -------
    list of str
        Its runs of one script and one class of characters.
    """
    cdef unique_ptr[ScriptRuns] runs
    cdef string marked
    runs.reset(new ScriptRuns())
    runs.get().mark(text.encode(), BOUNDARY, marked)
    return marked.decode().split("\x1f")
