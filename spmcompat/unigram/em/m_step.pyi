from spmcompat.runtime.workers import Workers
from spmcompat.unigram.em.e_step import ExpectedCounts
from spmcompat.unigram.lattice.lattices import NewIds
from spmcompat.unigram.pieces import Pieces

def m_step(
    pieces: Pieces,
    counts: ExpectedCounts,
    workers: Workers,
    threshold: float = 0.5,
    ml: bool = False,
    keep: bool = False,
    required: frozenset[bytes] = frozenset(),
) -> tuple[Pieces, NewIds]: ...
def ranked_count(counts: ExpectedCounts, rank: int) -> float: ...
def sparse_step(
    pieces: Pieces, counts: ExpectedCounts, penalty: float
) -> tuple[Pieces, NewIds]: ...
