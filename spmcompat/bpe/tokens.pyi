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
class TokenMerges:
    def __init__(
        self,
        words: Words,
        letters: Letters,
        tokens: Iterable[tuple[int, int]],
        texts: Iterable[bytes],
        workers: Workers,
        *,
        prefix: bytes = ...,
        least_count: int = ...,
        length_limit: int = ...,
        expected: int = ...,
    ) -> None: ...
    def make(self, wanted: int) -> int: ...
    def finish(self) -> None: ...
    def texts(self) -> list[bytes]: ...
    def merges(self) -> list[tuple[int, int, int]]: ...

def parity_tokens(
    languages: Iterable[tuple[Words, Words | None]],
    letters: Letters,
    tokens: Iterable[tuple[int, int]],
    texts: Iterable[bytes],
    workers: Workers,
    *,
    wanted: int,
    prefix: bytes = ...,
    least_count: int = ...,
    length_limit: int = ...,
    first_merges: int = ...,
    ratios: Sequence[float] = ...,
    window: int = ...,
    largest_share: float = ...,
    stage: Stage | None = ...,
) -> tuple[list[bytes], list[tuple[int, int, int]], bool]: ...
