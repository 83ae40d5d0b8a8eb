from spmcompat.unigram.em.e_step import ExpectedCounts
from spmcompat.unigram.lattice.lattices import NewIds
from spmcompat.unigram.pieces import Pieces

def ranked_count(counts: ExpectedCounts, rank: int) -> float: ...
def sparse_step(
    pieces: Pieces, counts: ExpectedCounts, penalty: float
) -> tuple[Pieces, NewIds]: ...
