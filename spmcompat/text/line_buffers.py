"""Cuts what a file holds into read buffers that end at a line's end."""

from collections.abc import Iterator
from typing import Protocol

from spmcompat.text.lines import BUFFER_BYTES, LineReader, ReadBuffer

_LEAST_BUFFERS = 128


class ReadableInto(Protocol):
    """A file that fills a buffer."""

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Put bytes into the buffer and return how many; none at the end."""


def cut_at_lines(
    file: ReadableInto, origin: str, longest: int | None = None, size: int = 0
) -> Iterator[ReadBuffer]:
    """Cut a file at line ends; a read buffer grows if a line does not fit into it.

    Parameters
    ----------
    file : file
        What is cut.
    origin : str
        Its name.
    longest : int, optional
        If given, every line is a sentence, unless it has more bytes. Then only the beginning of the
        line is kept. No error message names a line, so every read buffer begins with line 1.
    size : int
        Size of the file in bytes, if it is known. A smaller file gets smaller read buffers, which
        would otherwise need more memory than its counts.

    Yields
    ------
    ReadBuffer
        Whole lines; only the last one of the file may lack its line end.
    """
    reader = LineReader(file, origin, _buffer_bytes(size), longest)
    yield from iter(reader.read, None)


def _buffer_bytes(size: int) -> int:
    least = max(BUFFER_BYTES // 8, 1)
    return min(max(size // _LEAST_BUFFERS, least), BUFFER_BYTES) if size else BUFFER_BYTES
