from typing import final

from spmcompat.text.arrow_producers import ArrowExportable
from spmcompat.text.lines import ReadBuffer

@final
class ArrowStrings:
    column_name: str | None
    column_path: str | None
    def __init__(
        self,
        data: ArrowExportable,
        column: str | None = None,
        option: str = ...,
        longest: int | None = None,
        keeps_ends: bool = False,
    ) -> None: ...
    def fill(self, buffer: ReadBuffer) -> bool: ...
    def close(self) -> None: ...

@final
class JsonLines:
    def __init__(self, column: str, longest: int, keeps_ends: bool = False) -> None: ...
    def read(self, text: bytes, origin: str, first_line: int) -> ReadBuffer: ...
    @property
    def too_long(self) -> int: ...
    @property
    def first_too_long_line(self) -> int: ...
    @property
    def broken(self) -> int: ...
    @property
    def first_broken(self) -> tuple[int, bytes] | None: ...
