"""Cuts what a file holds into parts that end at a line's end."""

from collections.abc import Iterator
from typing import Protocol

from spmcompat.text.lines import BUFFER_BYTES

_LEAST_BUFFERS = 128


class ReadableInto(Protocol):
    """A file that fills a buffer."""

    def readinto(self, buffer: bytearray, /) -> int | None:
        """Put bytes into the buffer and return how many; none at the end."""


def cut_at_lines(
    file: ReadableInto, count_lines: bool = True, size: int = 0
) -> Iterator[tuple[bytes, int]]:
    """Cut a file at line ends; a line longer than a read buffer is read whole.

    Parameters
    ----------
    file : file
        What is cut.
    count_lines : bool
        Whether the lines are numbered.
    size : int
        Size of the file in bytes, if it is known. A smaller file gets smaller read buffers, which
        would otherwise need more memory than its counts.

    Yields
    ------
    bytes
        Whole lines; only the last one of the file may lack its line end.
    int
        The number of the first of them, from 1 on. It is always 1 if lines are not counted: they
        need to be only if an error message may name one.
    """
    buffer = bytearray(_buffer_bytes(size))
    view = memoryview(buffer)
    rest: list[bytes] = []
    line = 1
    while filled := file.readinto(buffer):
        end = buffer.rfind(b"\n", 0, filled) + 1
        if end > 0:
            text = b"".join([*rest, view[:end]])
            yield text, line
            line += text.count(b"\n") if count_lines else 0
            rest.clear()
        rest.append(bytes(view[end:filled]))
    if text := b"".join(rest):
        yield text, line


def _buffer_bytes(size: int) -> int:
    least = max(BUFFER_BYTES // 8, 1)
    return min(max(size // _LEAST_BUFFERS, least), BUFFER_BYTES) if size else BUFFER_BYTES
