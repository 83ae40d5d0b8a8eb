from typing import final

from spmcompat.corpus.corpus import Corpus
from spmcompat.corpus.folding import Batch, Chunk, Folder, TextRules
from spmcompat.workers import Workers

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
