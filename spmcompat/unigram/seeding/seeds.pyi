from collections.abc import Iterable
from typing import final

from spmcompat.releases import Release
from spmcompat.runtime.context import Context
from spmcompat.segments.corpus import Corpus
from spmcompat.unigram.pieces import Pieces

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

def seed_from_corpus(
    corpus: Corpus,
    rule: SeedRule,
    context: Context,
    release: Release = ...,
    counts: list[int] | None = None,
) -> Pieces: ...
def seed_from_merges(
    corpus: Corpus, merges: Iterable[tuple[bytes, int, int]], counts: list[int] | None = None
) -> Pieces: ...
def seed_from_counts(
    corpus: Corpus,
    counts: Iterable[tuple[bytes, int]],
    limit: int,
    release: Release = ...,
    seed_counts: list[int] | None = None,
) -> tuple[Pieces, int]: ...
