"""Cuts a file into read buffers that end at a line end."""

from collections.abc import Iterator
from typing import Protocol

from spmcompat.plan import TextPlan
from spmcompat.text.lines import BUFFER_BYTES, LineReader, ReadBuffer

_LEAST_BUFFERS = 128

LONGEST_RECORD = 1 << 24
"""The longest record in bytes, unless `max_sentence_length` is large.

A longer record of JSON Lines is skipped, because a whole record must fit into memory. In a CSV
file, a longer line or field is an error.
"""


class ReadableInto(Protocol):
    """A binary file with the method `readinto`."""

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Put bytes into the buffer, and return their number; 0 at the end of the file."""


def record_limit(text: TextPlan) -> int:
    """Return the size in bytes of the longest record of JSON Lines or CSV that is read."""
    return max(LONGEST_RECORD, 8 * text.max_sentence_length)


def cut_at_lines(
    file: ReadableInto,
    origin: str,
    longest: int | None = None,
    size: int = 0,
    numbered: bool | None = None,
) -> Iterator[ReadBuffer]:
    """Cut a file at line ends. If a line does not fit into a read buffer, the buffer grows.

    Parameters
    ----------
    file : file
        The file.
    origin : str
        The name of the file in messages.
    longest : int, optional
        The longest sentence in bytes. Longer lines are skipped later, so only their beginning is
        kept.
    size : int
        The size of the file in bytes, or 0 if it is unknown. A small file is read in smaller
        buffers, because full-sized buffers would need more memory than the counts of its text.
    numbered : bool, optional
        Whether to count the lines, which takes time. If not, every read buffer begins with line 1.
        By default, lines are counted if `longest` is not given, because in this case error messages
        contain line numbers.

    Yields
    ------
    ReadBuffer
        Whole lines. Only the last line of the file may lack its line end.
    """
    counts = longest is None if numbered is None else numbered
    reader = LineReader(file, origin, _buffer_bytes(size), longest, counts)
    yield from iter(reader.read, None)


def _buffer_bytes(size: int) -> int:
    least = max(BUFFER_BYTES // 8, 1)
    return min(max(size // _LEAST_BUFFERS, least), BUFFER_BYTES) if size else BUFFER_BYTES
