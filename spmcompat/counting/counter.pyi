from typing import final

from spmcompat.plan import Plan
from spmcompat.runtime.cancel import CancelFlag
from spmcompat.text.lines import LineFilter, ReadBuffer
from spmcompat.text.sampling import SampleSlice

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
    def table_bytes(self) -> int: ...
    def count(
        self,
        index: int,
        buffer: ReadBuffer | SampleSlice,
        line_filter: LineFilter,
        keep_pretokens: bool,
        selection: Selection | None = None,
    ) -> Batch: ...
