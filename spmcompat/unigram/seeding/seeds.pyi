from collections.abc import Iterable

from spmcompat.releases import Release
from spmcompat.runtime.context import Context
from spmcompat.segments.corpus import Corpus
from spmcompat.unigram.options import UnigramOptions
from spmcompat.unigram.pieces import Pieces

def seed_from_corpus(
    corpus: Corpus, options: UnigramOptions, context: Context, counts: list[int] | None = None
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
