"""The flag that stops running kernels, so that Ctrl-C ends them at once."""

from cython cimport final


@final
cdef class CancelFlag:
    """A flag that is set once, to stop a run.

    Every kernel that holds the flag then returns early. Nobody reads what it returns.
    """

    def set(self):
        """Ask all kernels that hold the flag to stop."""
        self.flag.set()

    def is_set(self):
        """Return whether the flag was set."""
        return self.flag.is_set()
