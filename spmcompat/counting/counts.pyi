from collections.abc import Iterable
from typing import final

from spmcompat.plan import Plan
from spmcompat.runtime.threads import CancelFlag
from spmcompat.runtime.workers import Workers
from spmcompat.text.lines import LineFilter, ReadBuffer, SampleSlice
from spmcompat.text.sources import LineFacts

@final
class SentenceRules:
    def __init__(self, plan: Plan, cancel: CancelFlag) -> None: ...

@final
class Batch:
    worker: int
    @property
    def text_bytes(self) -> int: ...
    @property
    def text_pretokens(self) -> int: ...
    @property
    def sentences(self) -> int: ...
    @property
    def filled(self) -> int: ...
    def drop_pretokens(self) -> None: ...
    def drop_sentences(self) -> None: ...

@final
class Selection: ...

@final
class Counter:
    def __init__(self, worker: int, rules: SentenceRules) -> None: ...
    def least_last_pretoken(self, batch: Batch) -> bytes: ...
    @property
    def surprises(self) -> dict[str, int]: ...
    @property
    def table_bytes(self) -> int: ...
    def count(
        self,
        index: int,
        buffer: ReadBuffer | SampleSlice,
        line_filter: LineFilter,
        keep_pretokens: bool,
        selection: Selection | None = None,
    ) -> Batch: ...

@final
class Counts:
    has_pretokens: bool
    sentences: int
    first_character: int
    nuls: int
    facts: LineFacts
    seeds: Counts | None
    def __init__(
        self, plan: Plan, counters: list[Counter], batches: list[Batch], has_pretokens: bool
    ) -> None: ...
    def merge(self, workers: Workers) -> None: ...
    def characters(self, workers: Workers) -> dict[int, int]: ...

def log_shares(counts: Iterable[int], total: int) -> list[float]: ...
