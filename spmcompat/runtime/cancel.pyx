"""The flag that stops running kernels, so that Ctrl-C ends them at once."""

from cython cimport final


@final
cdef class CancelFlag:
    """A flag that is set once, to stop a run.

    Every kernel that has the flag then returns early, and its result is discarded.
    """

    def set(self):
        """Ask all kernels that have the flag to stop."""
        self.flag.set()

    def is_set(self):
        """Return whether the flag was set."""
        return self.flag.is_set()
