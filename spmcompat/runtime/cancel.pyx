"""The flag that stops running kernels, so that Ctrl-C ends them at once."""

from cython cimport final


@final
cdef class CancelFlag:
    """Set once; every kernel that holds it returns early, with a result nobody reads."""

    def set(self):
        """Ask all kernels that hold the flag to stop."""
        self.flag.set()

    def is_set(self):
        """Return whether the flag was set."""
        return self.flag.is_set()
