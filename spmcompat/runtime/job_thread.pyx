"""A thread that does one job after the other.

It is compiled so that its creator can notice its end even if memory has run out. The creator of a
`threading.Thread` would wait forever if there were no memory for the thread's first Python call.
"""

from _thread import allocate_lock, start_new_thread
from queue import SimpleQueue

from cython cimport final
from libcpp cimport bool as cbool


cdef extern from *:
    """
    #include <cstdlib>
    #if defined(__unix__) || defined(__APPLE__)
    #include <pthread.h>
    #include <sys/mman.h>
    #endif
    namespace spmcompat {
    // The first exception that a thread throws allocates thread-local data of the C++ library. If
    // memory has run out, as it has when std::bad_alloc is thrown, that aborts the process. So a
    // thread throws once when it starts. Returns false if there is not enough memory for that.
    inline bool allocate_exception_data() {
      constexpr size_t kEnough = 1 << 14;
      void* room = std::malloc(kEnough);
      if (room == nullptr) return false;
      std::free(room);
      try {
        throw 0;
      } catch (int) {
      }
      return true;
    }

    // Whether there is memory for the stack of a new thread and for what Python allocates. This
    // only asks the system and does not touch any page.
    inline bool has_room_for_thread() {
    #if defined(__unix__) || defined(__APPLE__)
      size_t size = 0;  // of the stack
      pthread_attr_t attributes;
      if (pthread_attr_init(&attributes) != 0) return false;
      pthread_attr_getstacksize(&attributes, &size);
      pthread_attr_destroy(&attributes);
      size += 2 << 20;
      void* room = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (room == MAP_FAILED) return false;
      munmap(room, size);
    #endif
      return true;
    }
    }
    """
    cbool has_room_for_thread "spmcompat::has_room_for_thread"() nogil
    cbool allocate_exception_data "spmcompat::allocate_exception_data"() nogil


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
            job = None  # A waiting thread must not keep a job, and with it the `Workers`, alive.
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
