from collections.abc import Iterable, Sequence
from typing import final

from spmcompat.runtime.progress import Stage
from spmcompat.runtime.workers import Workers
from spmcompat.words.words import Words

INNER: int
LAST: int

@final
class Letters:
    def __init__(
        self,
        are_bytes: bool = ...,
        marks_inner: bool = ...,
        marks_last: bool = ...,
        kept: Iterable[int] | None = ...,
    ) -> None: ...

def count_letters(texts: Iterable[Words], letters: Letters) -> list[tuple[int, int]]: ...

@final
class FirstTokens:
    def __init__(
        self,
        letters: Letters,
        tokens: Iterable[tuple[int, int]],
        texts: Iterable[bytes],
        *,
        prefix: bytes = ...,
        least_count: int = ...,
        length_limit: int | None = ...,
    ) -> None: ...
    def __len__(self) -> int: ...

def find_tokens(
    words: Words, first: FirstTokens, wanted: int, workers: Workers, *, stage: Stage | None = ...
) -> tuple[list[str], list[tuple[int, int, int]]]: ...
def find_parity_tokens(
    languages: Iterable[tuple[Words, Words | None]],
    first: FirstTokens,
    wanted: int,
    workers: Workers,
    *,
    first_merges: int = ...,
    ratios: Sequence[float] = ...,
    window: int = ...,
    largest_share: float = ...,
    stage: Stage | None = ...,
) -> tuple[list[str], list[tuple[int, int, int]], bool]: ...
