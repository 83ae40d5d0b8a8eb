from typing import final

from spmcompat.counting.counter import Batch, Chunk, Folder, TextRules
from spmcompat.runtime.workers import Workers
from spmcompat.segments.corpus import Corpus

class WordsNotKeptError(Exception): ...

@final
class Builder:
    sentences: int
    nuls: int
    part_characters: dict[int, int]
    def __init__(self, rules: TextRules, workers: Workers) -> None: ...
    def merge(self, folders: list[Folder], batches: list[Batch], has_words: bool) -> None: ...
    def characters(self) -> dict[int, int]: ...
    def build(self, alphabet: list[tuple[int, int]]) -> Corpus: ...
    def build_chunk(
        self,
        folders: list[Folder],
        batches: list[Batch],
        chunk: Chunk,
        alphabet: list[tuple[int, int]],
    ) -> Corpus: ...
