"""A text that is too large for one search of seeds, as the chunks that the reference cuts it into.

The text is read twice more: to measure its sentences, and then chunk by chunk.
"""

from __future__ import annotations

from collections.abc import Iterator

from spmcompat.counting.counter import Batch, Chunk, Folder, TextRules
from spmcompat.errors import TrainingError
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.segments.chunk_plan import ChunkPlan
from spmcompat.segments.corpus import Corpus, return_freed_memory
from spmcompat.segments.segmenter import Builder
from spmcompat.text.sources import Source

_INPUT_CHANGED = (
    "The input changed while it was read: its sentences are not those of the first reading. "
    "Train again when nothing writes to it."
)


class Chunks:
    """The chunks of a text, each read when its turn comes.

    Parameters
    ----------
    source : Source
        The text.
    rules : TextRules
        How its sentences become words.
    alphabet : list of (int, int)
        The required characters of the whole text, and their counts.
    sentences : int
        How many sentences the first reading found, without empty ones.
    chunk_bytes : int
        A chunk is full when it holds so many bytes.
    workers : Workers
        Real threads.
    report : Report
        Told the stages.
    """

    def __init__(
        self,
        source: Source,
        rules: TextRules,
        alphabet: list[tuple[int, int]],
        sentences: int,
        chunk_bytes: int,
        workers: Workers,
        report: Report,
    ) -> None:
        self._source = source
        self._rules = rules
        self._alphabet = alphabet
        self._sentences = sentences
        self._chunk_bytes = chunk_bytes
        self._workers = workers
        self._report = report

    def __iter__(self) -> Iterator[Corpus]:
        """Read one chunk after the other.

        Raises
        ------
        TrainingError
            If the text cannot be read again, or is another one then.
        """
        if why := self._source.why_once():
            raise TrainingError(
                f"The text is larger than {self._chunk_bytes} bytes and has to be read again, but "
                f"{why}. Write it to a file, or sample it (--input_sentence_size)."
            )
        plan = self._plan()
        for number in range(len(plan)):
            return_freed_memory()
            yield self._read(plan.chunk(number), f"Reading chunk {number + 1} of {len(plan)}")

    def _plan(self) -> ChunkPlan:
        plan = ChunkPlan(self._alphabet, self._chunk_bytes, len(self._source))
        with self._report.stage("Measuring sentences", len(self._source), "blocks") as stage:

            def work(_: int, index: int) -> None:
                folder = Folder(0, self._rules)
                batch = self._source.fold(index, folder, keep_words=True)
                plan.measure(batch, folder)
                stage.advance()

            self._workers.run(range(len(self._source)), work)
        self._workers.call(plan.cut)
        if plan.sentences != self._sentences:
            raise TrainingError(_INPUT_CHANGED)
        return plan

    def _read(self, chunk: Chunk, name: str) -> Corpus:
        folders = [Folder(i, self._rules) for i in range(self._workers.count)]
        batches: dict[int, Batch] = {}
        with self._report.stage(name, len(chunk.batches), "blocks") as stage:

            def work(worker: int, index: int) -> None:
                folder = folders[worker]
                batch = self._source.fold(index, folder, keep_words=False, chunk=chunk)
                if not self._rules.keeps_order:
                    chunk.forget_others(batch)
                batches[index] = batch
                stage.advance()

            self._workers.run(chunk.batches, work)
        ordered = [batches[index] for index in chunk.batches]
        if sum(batch.filled for batch in ordered) != chunk.sentences:
            raise TrainingError(_INPUT_CHANGED)
        builder = Builder(self._rules, self._workers)
        return builder.build_chunk(folders, ordered, chunk, self._alphabet)
