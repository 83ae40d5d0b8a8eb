from collections.abc import Iterator
from typing import Final, NamedTuple, final

from typing_extensions import Buffer

from spmcompat.counting.counts import Counts
from spmcompat.plan import Plan
from spmcompat.runtime.workers import Workers
from spmcompat.text.sources import LineFacts

INSIDE: Final[int]
AT_END: Final[int]
AT_TEXT_END: Final[int]
LARGEST_CHARACTER: Final[int]
LARGEST_COUNT: Final[int]

class Columns(NamedTuple):
    size: int
    ends: Buffer
    text: Buffer
    place: Buffer
    next: Buffer
    count: Buffer  # type: ignore[assignment]

def find_wrong_row(columns: Columns) -> tuple[int, str] | None: ...
def count_of_place(columns: Columns, place: int) -> int: ...
def total_count(columns: Columns) -> int: ...
def find_disorder(columns: Columns) -> int: ...

@final
class RowHashes:
    def add(self, columns: Columns) -> None: ...
    def find_repeated(self) -> bool: ...
    def repeated(self, columns: Columns) -> list[int]: ...

@final
class RowReader:
    def __init__(self, counts: Counts, workers: Workers, pretokens: int = ...) -> None: ...
    def __iter__(self) -> Iterator[Columns]: ...

@final
class RowTable:
    def __init__(self, plan: Plan, workers: Workers) -> None: ...
    def add(self, worker: int, columns: Columns) -> None: ...
    def take_counts(self, sentences: int, facts: LineFacts) -> Counts: ...
