from collections.abc import Iterator
from typing import final

from spmcompat.runtime.cancel import CancelFlag
from spmcompat.segments.corpus import SegmentCounts

@final
class Merges:
    def __init__(
        self, segments: SegmentCounts, expected: int, active_set: bool = False
    ) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[tuple[bytes, int]]: ...
    def make(self, wanted: int, cancel: CancelFlag) -> int: ...
