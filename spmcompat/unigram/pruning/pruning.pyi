from collections.abc import Iterable
from typing import final

from spmcompat.runtime.workers import Workers
from spmcompat.unigram.em.steps import ExpectedCounts
from spmcompat.unigram.lattice.lattices import Lattices, NewIds
from spmcompat.unigram.pieces import Pieces

@final
class Losses:
    def select(self, size: int) -> tuple[Pieces, NewIds]: ...
    def as_list(self) -> list[float | None]: ...

@final
class LossWeights:
    @staticmethod
    def by_pieces(counts: ExpectedCounts) -> LossWeights: ...
    @staticmethod
    def by_pretokens(
        lattices: Lattices, counts: ExpectedCounts, partial_sums: int, workers: Workers
    ) -> LossWeights: ...

def find_losses(
    lattices: Lattices,
    counts: ExpectedCounts,
    weights: LossWeights,
    workers: Workers,
    limited: bool = True,
) -> Losses: ...

@final
class ExactLosses:
    def as_list(self) -> list[float | None]: ...
    def select(self, size: int) -> tuple[Pieces, NewIds]: ...

def find_exact_losses(lattices: Lattices, workers: Workers) -> ExactLosses: ...
def select_pieces(pieces: Pieces, kept: Iterable[int]) -> tuple[Pieces, NewIds]: ...
def prune_flat(
    pieces: Pieces, size: int, keep_first: frozenset[bytes] = ...
) -> tuple[Pieces, NewIds]: ...
def drop_unreachable(pieces: Pieces, workers: Workers) -> Pieces: ...
