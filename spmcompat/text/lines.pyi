from collections.abc import Iterator
from typing import final

from spmcompat.plan import TextPlan

BUFFER_BYTES: int

@final
class ReadBuffer:
    origin: str
    first_line: int
    @staticmethod
    def of_lines(text: bytes, origin: str, first_line: int) -> ReadBuffer: ...
    @staticmethod
    def of_items(iterator: Iterator[str | bytes], first_item: int) -> ReadBuffer | None: ...
    def unfinished_line(self) -> bytes: ...
    @property
    def lines(self) -> int: ...
    @property
    def size(self) -> int: ...

@final
class LineFilter:
    def __init__(self, text: TextPlan) -> None: ...
    @property
    def sentences(self) -> int: ...
    @property
    def too_long(self) -> int: ...
    @property
    def reserved(self) -> int: ...
