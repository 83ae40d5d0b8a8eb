"""The Python binding of script_runs.hpp, for tests; training uses the C++ class.

The binding is part of the package so that the tests can also be run against an installed package.
"""

from libc.stdint cimport uint32_t
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string

from spmcompat.releases import DEFAULT


cdef extern from "spmcompat/pretokenization/script_runs.hpp" namespace "spmcompat" nogil:
    cdef cppclass ScriptRuns:
        ScriptRuns() except +
        void mark(string text, uint32_t boundary, string& out) except +


def script_runs(str text not None):
    """Cut a text as ``pretokenizer=script`` does.

    Parameters
    ----------
    text : str
        A normalized text, with the space mark (U+2581) for spaces and without boundary marks.

    Returns
    -------
    list of str
        Its runs of one script and one class of characters.
    """
    cdef unique_ptr[ScriptRuns] runs
    cdef string marked
    runs.reset(new ScriptRuns())
    runs.get().mark(text.encode(), DEFAULT.boundary, marked)
    return marked.decode().split(chr(DEFAULT.boundary))
