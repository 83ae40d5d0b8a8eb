from collections.abc import Iterable
from typing import final

from spmcompat.releases import Release
from spmcompat.runtime.workers import Workers
from spmcompat.unigram.em.steps import ExpectedCounts
from spmcompat.unigram.lattice.lattices import Lattices, NewIds
from spmcompat.unigram.pieces import Pieces

@final
class Losses:
    def select(self, size: int) -> tuple[Pieces, NewIds]: ...
    def as_list(self) -> list[float | None]: ...

def find_losses(
    lattices: Lattices,
    counts: ExpectedCounts,
    partial_sums: int,
    workers: Workers,
    release: Release = ...,
) -> Losses: ...
def find_exact_losses(lattices: Lattices, workers: Workers) -> Losses: ...
def select_pieces(pieces: Pieces, kept: Iterable[int]) -> tuple[Pieces, NewIds]: ...
def prune_flat(
    pieces: Pieces, size: int, keep_first: frozenset[bytes] = ...
) -> tuple[Pieces, NewIds]: ...
def drop_unreachable(pieces: Pieces, workers: Workers) -> Pieces: ...
