"""A flag that running kernels check, so that Ctrl-C ends them at once."""

from cython cimport final


@final
cdef class CancelFlag:
    """Once it is set, every kernel that has it returns early, and its result is not used."""

    def set(self):
        """Ask all kernels that have the flag to stop."""
        self.flag = 1

    def is_set(self):
        """Return whether the flag was set."""
        return self.flag != 0
