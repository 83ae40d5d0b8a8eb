from typing import final

from spmcompat.text.arrow_producers import ArrowExportable
from spmcompat.text.lines import ReadBuffer

@final
class ArrowStrings:
    column_name: str | None
    def __init__(
        self,
        data: ArrowExportable,
        column: str | None = None,
        option: str = ...,
        longest: int | None = None,
    ) -> None: ...
    def fill(self, buffer: ReadBuffer) -> bool: ...
    def close(self) -> None: ...
