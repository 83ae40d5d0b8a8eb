"""A stream for messages that never ends the work."""

from __future__ import annotations

from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


class Messages:
    """A text stream that drops what it cannot write, such as to a full disk or a closed file.

    Parameters
    ----------
    stream : text stream or None
        Where messages go. Python has no standard error if its descriptor is closed.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text if possible."""
        if self._stream is not None:
            with suppress(OSError, ValueError):
                self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Write what is waiting in a buffer, if possible."""
        if self._stream is not None:
            with suppress(OSError, ValueError):
                self._stream.flush()

    def isatty(self) -> bool:
        """Return whether the stream is a terminal; a stream may lack the method, or be closed."""
        with suppress(AttributeError, OSError, ValueError):
            return self._stream is not None and self._stream.isatty()
        return False

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)
