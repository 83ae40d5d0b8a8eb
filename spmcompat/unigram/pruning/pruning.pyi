from typing import final

from spmcompat.runtime.workers import Workers
from spmcompat.unigram.em.e_step import Counts
from spmcompat.unigram.lattice.lattices import Lattices, NewIds
from spmcompat.unigram.pieces import Pieces

@final
class LossWeights:
    @staticmethod
    def by_pieces(counts: Counts) -> LossWeights: ...
    @staticmethod
    def by_pretokens(
        lattices: Lattices, counts: Counts, lanes: int, workers: Workers
    ) -> LossWeights: ...

def prune(
    lattices: Lattices,
    counts: Counts,
    weights: LossWeights,
    size: int,
    workers: Workers,
    limited: bool = True,
) -> tuple[Pieces, NewIds]: ...
def prune_flat(
    pieces: Pieces, size: int, keep_first: frozenset[bytes] = ...
) -> tuple[Pieces, NewIds]: ...
def drop_unreachable(pieces: Pieces, workers: Workers) -> Pieces: ...
