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
    file: ReadableInto,
    origin: str,
    longest: int | None = None,
    size: int = 0,
    numbered: bool | None = None,
) -> Iterator[ReadBuffer]:
    """Cut a file at line ends; a read buffer grows if a line does not fit into it.

    Parameters
    ----------
    file : file
        What is cut.
    origin : str
        Its name.
    longest : int, optional
        If given, a line with more bytes is skipped later, so only its beginning is kept.
    size : int
        Size of the file in bytes, if it is known. A smaller file gets smaller read buffers, which
        would otherwise need more memory than its counts.
    numbered : bool, optional
        Whether the lines are counted, which takes time. Otherwise every read buffer begins with
        line 1. By default they are counted if `longest` is not given: then error messages name
        lines.

    Yields
    ------
    ReadBuffer
        Whole lines; only the last one of the file may lack its line end.
    """
    counts = longest is None if numbered is None else numbered
    reader = LineReader(file, origin, _buffer_bytes(size), longest, counts)
    yield from iter(reader.read, None)


def _buffer_bytes(size: int) -> int:
    least = max(BUFFER_BYTES // 8, 1)
    return min(max(size // _LEAST_BUFFERS, least), BUFFER_BYTES) if size else BUFFER_BYTES
