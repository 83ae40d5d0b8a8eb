"""Threads: the crew that runs C++ stages, threads for Python jobs, and the flag that stops both.

A Cython module calls the C++ function of a stage like this (see crew.hpp)::

    cdef Crew crew = workers.crew
    start_stage(dereference(crew.crew), result, function, first, second)
    crew.await_stage()

The first thread of the crew runs ``result = function(first, second, crew)``.
"""

from cpython.exc cimport PyErr_CheckSignals
from cython cimport final
from cython.operator cimport dereference
from libcpp cimport bool as cbool

from _thread import allocate_lock, start_new_thread
from queue import SimpleQueue


cdef extern from "spmcompat/runtime/system.hpp" namespace "spmcompat" nogil:
    cbool has_room_for_thread()
    cbool allocate_exception_data()
    void c_return_freed_memory "spmcompat::return_freed_memory"()


@final
cdef class CancelFlag:
    """A flag that is set once, to stop a run.

    Every kernel that checks the flag then returns early, and the result of the kernel is discarded.
    """

    def set(self):
        """Ask all kernels that check the flag to stop."""
        self.flag.set()

    def is_set(self):
        """Return whether the flag was set."""
        return self.flag.is_set()


cdef double INTERVAL = 0.03


@final
cdef class Crew:
    """The threads of one training run. They start when they are first needed.

    Parameters
    ----------
    size : int
        The number of threads, at least 1. If fewer threads can start, they do all the work.
    cancel : CancelFlag
        The first error or interrupt sets it. After that, the crew can no longer be used.
    """

    def __init__(self, size_t size, CancelFlag cancel not None):
        self.cancel = cancel
        self.crew.reset(new CCrew(size, cancel.flag))

    cdef await_stage(self, shown=None):
        """Wait for the end of the stage that was started last.

        Parameters
        ----------
        shown : Stage, optional
            Shows the progress that the stage reports.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C, when the stage has ended.
        BaseException
            The exception of the stage.
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
            # Wait for the end of the stage, because the stage uses objects of the caller.
            while not has_ended:
                with nogil:
                    has_ended = dereference(self.crew).await_end(INTERVAL)
            raise
        dereference(self.crew).finish()


@final
cdef class JobThread:
    """A thread and its queue of jobs, for Python code.

    The class is compiled, so that the creator of the thread notices that the thread has ended even
    if memory has run out. The creator of a `threading.Thread` would wait forever if there were not
    enough memory for the thread's first Python call.

    Parameters
    ----------
    worker : int
        Number of the thread, for its reports.
    reports : queue.SimpleQueue
        Receives ``(worker, None)`` after each job, or ``(worker, error)`` if the job raised an
        error.
    cancel : CancelFlag
        Is set before an error is reported.

    Raises
    ------
    MemoryError
        If there is no memory for the thread.
    RuntimeError
        If the system does not allow another thread or lock.
    """

    cdef object _jobs
    cdef object _life  # a lock that the thread holds until it ends

    def __init__(self, worker, reports, cancel):
        if not has_room_for_thread():  # the thread could abort the process
            raise MemoryError("no memory for a thread")
        self._jobs = SimpleQueue()
        self._life = allocate_lock()
        self._life.acquire()
        start_new_thread(_serve, (worker, self._jobs, reports, cancel, self._life))

    def do(self, job):
        """Make the thread call a function after the jobs in its queue."""
        self._jobs.put(job)

    def dismiss(self):
        """Make the thread end when it has done the jobs in its queue."""
        self._jobs.put(None)

    def has_ended(self):
        """Return whether the thread has ended."""
        return not self._life.locked()

    def await_end(self, double limit):
        """Wait at most `limit` seconds for the end of the thread. Return whether it has ended."""
        if self._life.acquire(timeout=limit):
            self._life.release()
        return self.has_ended()


def _serve(worker, jobs, reports, cancel, life):
    """Do jobs until the queue returns None. End early if there is no memory for a report."""
    try:
        prepare_thread()
        while (job := jobs.get()) is not None:
            report = _done(worker, job, cancel)
            job = None  # Free the job, because the next wait may be long.
            reports.put(report)
            report = None
    except MemoryError:
        pass
    finally:
        life.release()


cdef tuple _done(worker, job, cancel):
    """Do a job, and return the report: the worker, and the error or None."""
    try:
        job()
    except BaseException as error:
        cancel.set()
        return worker, error
    return worker, None


def prepare_thread():
    """Allocate the memory that the calling thread needs to throw C++ exceptions.

    Raises
    ------
    MemoryError
        If there is not enough memory.
    """
    if not allocate_exception_data():
        raise MemoryError("no memory for a thread")


def return_freed_memory():
    """Return freed memory to the system now; from now on, return large blocks when they are freed.

    By default, the GNU C library keeps freed small blocks. After a large block of up to 32 MiB is
    freed, the library treats blocks of that size as small, too. After a call of this function, the
    size from which blocks are large no longer changes.
    """
    with nogil:
        c_return_freed_memory()
