"""A thread that does one job after the other.

It is compiled so that its creator can notice its end even if memory has run out. The creator of a
`threading.Thread` would wait forever if there were no memory for the thread's first Python call.
"""

from _thread import allocate_lock, start_new_thread
from queue import SimpleQueue

from cython cimport final
from libcpp cimport bool as cbool


cdef extern from "spmcompat/runtime/thread_room.hpp" namespace "spmcompat" nogil:
    cbool has_room_for_thread()
    cbool allocate_exception_data()


@final
cdef class JobThread:
    """A thread and its queue of jobs.

    Parameters
    ----------
    worker : int
        Number of the thread, for its reports.
    reports : queue.SimpleQueue
        Where the thread puts ``(worker, None)`` after each job, or ``(worker, error)`` if the job
        raised an error.
    cancel : CancelFlag
        Set before an error is reported.

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
        check_room_for_thread()
        self._jobs = SimpleQueue()
        self._life = allocate_lock()
        self._life.acquire()
        start_new_thread(_serve, (worker, self._jobs, reports, cancel, self._life))

    def do(self, job):
        """Make the thread call the function after the jobs that are in its queue."""
        self._jobs.put(job)

    def dismiss(self):
        """Make the thread end after the jobs that are in its queue."""
        self._jobs.put(None)

    def has_ended(self):
        """Return whether the thread has ended."""
        return not self._life.locked()

    def await_end(self, double limit):
        """Wait until the thread has ended, or for `limit` seconds. Return whether it has ended."""
        if self._life.acquire(timeout=limit):
            self._life.release()
        return self.has_ended()


def _serve(worker, jobs, reports, cancel, life):
    """Do jobs until the queue returns None. End early if there is no memory for a report."""
    try:
        prepare_thread()
        while (job := jobs.get()) is not None:
            report = _done(worker, job, cancel)
            job = None  # A waiting thread must not keep the memory of a job.
            reports.put(report)
            report = None
    except MemoryError:
        pass
    finally:
        life.release()


cdef tuple _done(worker, job, cancel):
    """Do a job, and return its report."""
    try:
        job()
    except BaseException as error:
        cancel.set()
        return worker, error
    return worker, None


def check_room_for_thread():
    """Check that a thread can be started.

    A new thread that gets a stack but no more memory can abort the process.

    Raises
    ------
    MemoryError
        If there is no memory for a thread.
    """
    if not has_room_for_thread():
        raise MemoryError("no memory for a thread")


def prepare_thread():
    """Allocate what the calling thread needs before it may throw a C++ exception.

    Raises
    ------
    MemoryError
        If there is no memory for that.
    """
    if not allocate_exception_data():
        raise MemoryError("no memory for a thread")
