from spmcompat.unigram.e_step import Counts, Lattices, NewIds
from spmcompat.unigram.pieces import Pieces
from spmcompat.workers import Workers

def prune(
    lattices: Lattices, counts: Counts, size: int, workers: Workers
) -> tuple[Pieces, NewIds]: ...
def drop_unreachable(pieces: Pieces, workers: Workers) -> Pieces: ...
