from typing import final

from spmcompat.counting.counter import Batch, Counter
from spmcompat.plan import Plan
from spmcompat.runtime.workers import Workers
from spmcompat.text.sources import LineFacts

@final
class CharacterSum:
    nuls: int
    def __init__(self, workers: int) -> None: ...

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
    def append_sentences(self, workers: Workers) -> None: ...
    def close_sentences(self) -> None: ...
    def close_with_last_sentence(self, workers: Workers) -> None: ...
    def characters(self, workers: Workers) -> dict[int, int]: ...
