from collections.abc import Iterable
from typing import final

from spmcompat.corpus.corpus import Corpus
from spmcompat.progress import Report
from spmcompat.unigram.pieces import Pieces
from spmcompat.workers import Workers

NO_LIMIT: int

@final
class SeedRule:
    def __init__(
        self,
        limit: int,
        length_power: float = 1.0,
        min_freq_alpha: float = 0.0,
        vocab_size: int = 8000,
        pretokens: bool = False,
        recover: bool = False,
    ) -> None: ...
    def without_limit(self) -> SeedRule: ...

@final
class SeedSearch:
    def __init__(self, corpus: Corpus, rule: SeedRule, workers: int) -> None: ...
    def prepare(self, workers: Workers) -> None: ...
    def sizes(self) -> list[int]: ...
    def search(self, worker: int, part: int) -> None: ...
    def select(self, workers: Workers) -> None: ...
    def seeds(self) -> Pieces: ...

@final
class CandidateCounts:
    def __init__(self, rule: SeedRule, longest: int) -> None: ...
    def add(self, search: SeedSearch) -> None: ...
    def seeds(self, corpus: Corpus) -> Pieces: ...

def seed_from_corpus(
    corpus: Corpus, rule: SeedRule, workers: Workers, report: Report
) -> Pieces: ...
def seed_from_counts(
    corpus: Corpus, counts: Iterable[tuple[bytes, int]], limit: int
) -> tuple[Pieces, int]: ...
