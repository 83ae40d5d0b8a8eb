from collections.abc import Iterator
from typing import final

from spmcompat.text.lines import LineFilter, ReadBuffer

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

@final
class SampleSlice:
    def __init__(self, sample: ReservoirSample, first: int, last: int) -> None: ...
    @property
    def size(self) -> int: ...
    @property
    def nulls(self) -> int: ...
