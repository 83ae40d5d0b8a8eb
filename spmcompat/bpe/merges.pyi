from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import final

from spmcompat.runtime.progress import Stage
from spmcompat.runtime.workers import Workers
from spmcompat.segments.corpus import SegmentCounts

@final
class Merges:
    def __init__(
        self,
        segments: SegmentCounts,
        expected: int,
        workers: Workers,
        active_set: bool = False,
        initial: Iterable[tuple[bytes, float]] | None = None,
    ) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[tuple[bytes, int]]: ...
    def pieces(self, size: int) -> list[bytes]: ...
    def left_length(self, merge: int) -> int: ...
    def make(self, wanted: int) -> int: ...
    def finish(self) -> None: ...

def parity_merges(
    languages: Sequence[tuple[SegmentCounts, SegmentCounts, int, Fraction, int]],
    wanted: int,
    workers: Workers,
    *,
    first_merges: int = 0,
    window: int = 0,
    most_choices: int = 0,
    stage: Stage | None = None,
) -> tuple[list[bytes], list[int], list[int]]: ...
def count_in_encoded(
    segments: SegmentCounts, pieces: Iterable[tuple[bytes, float]], workers: Workers
) -> list[int]: ...
