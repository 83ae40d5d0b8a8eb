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
    def too_long(self) -> tuple[int, int]: ...
    @property
    def broken(self) -> tuple[int, int, bytes]: ...
