from typing import final

import numpy as np
from numpy.typing import NDArray

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

def has_avx2() -> bool: ...
def log_sum_exp(
    x: NDArray[np.float32], y: NDArray[np.float32], avx2: bool, with_log1p: bool = True
) -> NDArray[np.float32]: ...
def log_sum_exp_exact(
    x: NDArray[np.float32], y: NDArray[np.float32], with_log1p: bool = True
) -> NDArray[np.float32]: ...
def add_exp(
    sums: NDArray[np.float32],
    frequencies: NDArray[np.float32],
    x: NDArray[np.float32],
    avx2: bool,
) -> NDArray[np.float32]: ...
def add_exp_exact(
    sums: NDArray[np.float32], frequencies: NDArray[np.float32], x: NDArray[np.float32]
) -> NDArray[np.float32]: ...
