"""Cuts a text that is too large for a single search for seeds into chunks, as the reference does.

After the text has been counted, it is read twice more: first to measure its sentences, and then
chunk by chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from spmcompat.counting.counts import Batch, Counter, Counts, SentenceRules
from spmcompat.errors import FileChangedError, ReadOnceError
from spmcompat.plan import Plan
from spmcompat.runtime.context import Context
from spmcompat.runtime.threads import return_freed_memory
from spmcompat.segments.corpus import Chunk, ChunkPlan, Corpus, PretokenSizes, cut_seeding_chunk
from spmcompat.text.lines import LineFilter
from spmcompat.text.sources import Buffer, Source

# When the tables of a counter exceed this size, the next buffer is measured with a new counter.
_MOST_TABLE_BYTES = 16 << 20

_INPUT_CHANGED = (
    "The input changed while it was read: its sentences are not those of the first reading. "
    "Train again when no other program writes to the input."
)


class SeedingChunks:
    """The seeding chunks of a text. Iteration reads one chunk at a time.

    Parameters
    ----------
    plan : Plan
        How the text was counted.
    source : Source
        The text.
    alphabet : list of (int, int)
        The required characters of the whole text, and their counts.
    sentences : int
        The number of non-empty sentences in the first reading.
    context : Context
        The worker threads, whose number never changes the result, and the report.
    """

    def __init__(
        self,
        plan: Plan,
        source: Source,
        alphabet: list[tuple[int, int]],
        sentences: int,
        context: Context,
    ) -> None:
        self._plan = plan
        self._source = source
        self._alphabet = alphabet
        self._sentences = sentences
        self._context = context
        self._rules = SentenceRules(plan, context.workers.cancel)

    def __iter__(self) -> Iterator[Corpus]:
        """Read the chunks in order.

        Raises
        ------
        TrainingError
            If the text cannot be read again, or has changed.
        """
        if why := self._source.why_once():
            raise ReadOnceError(
                f"The text is larger than {self._plan.seeding_chunk_bytes} bytes and has to be "
                f"read again, but {why}. Write it to a file, or sample it (--input_sentence_size)."
            )
        chunks = self._plan_chunks()
        for number in range(len(chunks)):
            return_freed_memory()
            yield self._read(chunks.chunk(number), f"Reading chunk {number + 1} of {len(chunks)}")

    def _plan_chunks(self) -> ChunkPlan:
        batches = len(self._source)
        chunks = ChunkPlan(self._alphabet, self._plan.seeding_chunk_bytes, batches)
        measuring = [self._measuring(worker) for worker in range(self._context.workers.count)]
        with self._context.report.stage("Measuring sentences", batches, "buffers") as stage:

            def work(worker: int, task: tuple[int, Callable[[], Buffer]]) -> None:
                index, load = task
                counter, sizes = measuring[worker]
                batch = counter.count(index, load(), LineFilter(self._plan.text), True)
                chunks.measure(batch, counter, sizes)
                if counter.table_bytes > _MOST_TABLE_BYTES:
                    measuring[worker] = self._measuring(worker)
                stage.advance()

            self._context.workers.feed(self._source.again(range(batches)), work)
        chunks.cut(self._context.workers)
        if chunks.sentences != self._sentences:
            raise FileChangedError(_INPUT_CHANGED)
        return chunks

    def _measuring(self, worker: int) -> tuple[Counter, PretokenSizes]:
        return Counter(worker, self._rules), PretokenSizes()

    def _read(self, chunk: Chunk, name: str) -> Corpus:
        counters = [Counter(worker, self._rules) for worker in range(self._context.workers.count)]
        batches: dict[int, Batch] = {}
        with self._context.report.stage(name, len(chunk.batches), "buffers") as stage:

            def work(worker: int, task: tuple[int, Callable[[], Buffer]]) -> None:
                index, load = task
                lines = LineFilter(self._plan.text)
                selection = chunk.selection(index)
                batches[index] = counters[worker].count(index, load(), lines, False, selection)
                stage.advance()

            self._context.workers.feed(self._source.again(chunk.batches), work)
        ordered = [batches[index] for index in chunk.batches]
        if sum(batch.filled for batch in ordered) != chunk.sentences:
            raise FileChangedError(_INPUT_CHANGED)
        counts = Counts(self._plan, counters, ordered, False)
        chunk.merge(counts, self._context.workers)
        return cut_seeding_chunk(counts, self._alphabet, self._context.workers)
