from typing import final

from spmcompat.runtime.workers import Workers
from spmcompat.segments.corpus import Corpus
from spmcompat.unigram.pieces import Pieces

@final
class NewIds:
    def __len__(self) -> int: ...
    def __getitem__(self, piece: int, /) -> int | None: ...

@final
class Lattices:
    pieces: Pieces
    def __init__(
        self, corpus: Corpus, pieces: Pieces, workers: Workers, with_log1p: bool = True
    ) -> None: ...
    def copy(self) -> Lattices: ...
    def renumber(self, pieces: Pieces, new_ids: NewIds, workers: Workers) -> None: ...
    def rescore(self, pieces: Pieces) -> None: ...
