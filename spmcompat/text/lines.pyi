from collections.abc import Iterator
from typing import Any, final

from spmcompat.plan import TextPlan
from spmcompat.text.line_buffers import ReadableInto

BUFFER_BYTES: int

@final
class ReadBuffer:
    origin: str
    first_line: int
    before_dropped: int
    dropped: int
    rows: int
    @staticmethod
    def of_lines(text: bytes, origin: str, first_line: int) -> ReadBuffer: ...
    @staticmethod
    def of_items(
        iterator: Iterator[str | bytes],
        first_item: int,
        longest: int | None = None,
        origin: str = "item",
        keeps_ends: bool = False,
    ) -> ReadBuffer | None: ...
    @staticmethod
    def of_rows(origin: str, first_row: int) -> ReadBuffer: ...
    def split_lines(self) -> None: ...
    def lines_text(self) -> bytes: ...
    def texts(self) -> list[str]: ...
    def first_nul(self) -> str: ...
    @property
    def lines(self) -> int: ...
    @property
    def nulls(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def input_size(self) -> int: ...
    @input_size.setter
    def input_size(self, size: int) -> None: ...

@final
class LineReader:
    def __init__(
        self,
        file: ReadableInto,
        origin: str,
        block_size: int,
        longest: int | None,
        numbered: bool,
    ) -> None: ...
    def read(self) -> ReadBuffer | None: ...

@final
class LineFilter:
    places: dict[str, tuple[int, str]]
    def __init__(self, text: TextPlan) -> None: ...
    @property
    def totals(self) -> dict[str, Any]: ...

@final
class ReservoirSample:
    def __init__(
        self,
        size: int,
        shuffle: bool,
        seed: int,
        repeatable: bool = False,
        multiplies: bool = False,
        among: int = 0,
    ) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[bytes]: ...
    @property
    def offered(self) -> int: ...
    @property
    def done(self) -> bool: ...
    def add(self, buffer: ReadBuffer, line_filter: LineFilter) -> None: ...
    def add_texts(self, buffer: ReadBuffer) -> None: ...

@final
class SampleSlice:
    def __init__(self, sample: ReservoirSample, first: int, last: int) -> None: ...
    @property
    def size(self) -> int: ...
    @property
    def input_size(self) -> int: ...
    @property
    def nulls(self) -> int: ...
