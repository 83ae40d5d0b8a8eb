from collections.abc import Iterable, Iterator
from typing import final

from spmcompat.runtime.cancel import CancelFlag
from spmcompat.segments.corpus import SegmentCounts

@final
class Merges:
    def __init__(
        self,
        segments: SegmentCounts,
        expected: int,
        active_set: bool = False,
        given: Iterable[tuple[bytes, float]] | None = None,
    ) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[tuple[bytes, int]]: ...
    def left_length(self, merge: int) -> int: ...
    def make(self, wanted: int, cancel: CancelFlag) -> int: ...
    def finish(self) -> None: ...

def count_in_encoded(
    segments: SegmentCounts, given: Iterable[tuple[bytes, float]]
) -> list[int]: ...
