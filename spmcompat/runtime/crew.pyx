"""The threads that run the stages of a training: see crew.hpp.

A module with a stage calls its C++ function in this way::

    cdef Crew crew = workers.crew
    start_stage(dereference(crew.crew), result, function, first, second)
    crew.await_stage()

The first thread of the crew runs ``result = function(first, second, crew)``.
"""

from cython cimport final
from cpython.exc cimport PyErr_CheckSignals

from cython.operator cimport dereference


# How long the calling thread waits between two checks for Ctrl-C, in seconds.
cdef double INTERVAL = 0.03


@final
cdef class Crew:
    """The threads of one training. They start when they are first needed.

    Parameters
    ----------
    size : int
        The number of threads, at least 1. If fewer can start, these do all the work.
    cancel : CancelFlag
        Set by the first error or interrupt. Then the crew can no longer be used.
    """

    def __init__(self, size_t size, CancelFlag cancel not None):
        self.cancel = cancel
        self.crew.reset(new CCrew(size, cancel.flag))

    cdef await_stage(self, shown=None):
        """Wait until the stage that was started last has ended.

        Parameters
        ----------
        shown : Stage, optional
            Shows the progress that the stage reports.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C, when the stage has ended.
        BaseException
            What the stage raised.
        """
        cdef cbool has_ended = False
        cdef size_t progress
        try:
            while not has_ended:
                with nogil:
                    has_ended = dereference(self.crew).await_end(INTERVAL)
                progress = dereference(self.crew).take_progress()
                if shown is not None and progress > 0:
                    shown.advance(progress)
                PyErr_CheckSignals()
        except BaseException:
            self.cancel.set()
            # The stage uses objects of the caller until it ends.
            while not has_ended:
                with nogil:
                    has_ended = dereference(self.crew).await_end(INTERVAL)
            raise
        dereference(self.crew).finish()
