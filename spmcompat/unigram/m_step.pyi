from spmcompat.unigram.e_step import Counts, NewIds
from spmcompat.unigram.pieces import Pieces
from spmcompat.workers import Workers

def m_step(
    pieces: Pieces,
    counts: Counts,
    workers: Workers,
    threshold: float = 0.5,
    ml: bool = False,
    keep: bool = False,
) -> tuple[Pieces, NewIds]: ...
