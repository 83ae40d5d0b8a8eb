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
def prune(
    lattices: Lattices,
    counts: ExpectedCounts,
    weights: LossWeights,
    size: int,
    workers: Workers,
    limited: bool = True,
) -> tuple[Pieces, NewIds]: ...

@final
class ExactLosses:
    def as_list(self) -> list[float | None]: ...
    def select(self, size: int) -> tuple[Pieces, NewIds]: ...

def find_exact_losses(lattices: Lattices, workers: Workers) -> ExactLosses: ...
def exact_losses(lattices: Lattices, workers: Workers) -> list[float | None]: ...
def prune_exact(lattices: Lattices, size: int, workers: Workers) -> tuple[Pieces, NewIds]: ...
def select_pieces(pieces: Pieces, kept: Iterable[int]) -> tuple[Pieces, NewIds]: ...
def prune_flat(
    pieces: Pieces, size: int, keep_first: frozenset[bytes] = ...
) -> tuple[Pieces, NewIds]: ...
def drop_unreachable(pieces: Pieces, workers: Workers) -> Pieces: ...
