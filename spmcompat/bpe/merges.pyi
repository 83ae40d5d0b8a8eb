from collections.abc import Iterable, Sequence
from fractions import Fraction

from spmcompat.runtime.progress import Stage
from spmcompat.runtime.workers import Workers
from spmcompat.segments.corpus import SegmentCounts

def find_merges(
    segments: SegmentCounts,
    wanted: int,
    workers: Workers,
    *,
    active_set: bool = False,
    initial: Iterable[tuple[bytes, float]] | None = None,
    stage: Stage | None = None,
) -> list[tuple[bytes, int, int]]: ...
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
