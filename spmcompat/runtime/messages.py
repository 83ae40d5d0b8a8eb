"""A stream for messages that ignores failed writes."""

from __future__ import annotations

from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


class Messages:
    """A text stream that ignores failed writes, such as to a full disk or a closed file.

    Parameters
    ----------
    stream : text stream or None
        The stream to write to. `sys.stderr` is None if its descriptor was closed.
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
        """Write the buffered text if possible."""
        if self._stream is not None:
            with suppress(OSError, ValueError):
                self._stream.flush()

    def isatty(self) -> bool:
        """Return whether the stream is a terminal; false if it is closed or lacks this method."""
        with suppress(AttributeError, OSError, ValueError):
            return self._stream is not None and self._stream.isatty()
        return False

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)
