"""Where sentences come from: files, an iterator, or a sample of either.

Each source hands out the text once, one read buffer after the other. Files and samples give any
of their read buffers again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple, Protocol, TypeAlias

from spmcompat.errors import TrainingError
from spmcompat.plan import TextPlan
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.text.files import Files
from spmcompat.text.lines import LineFilter, ReadBuffer
from spmcompat.text.sampling import ReservoirSample, SampleSlice
from spmcompat.text.skipped import Skipped

_SLICE_SENTENCES = 1 << 14

Buffer: TypeAlias = "ReadBuffer | SampleSlice"


class LineFacts(NamedTuple):
    """What became of the lines of the input; the names are those of `LineFilter`.

    `bytes_read` is the size of what was read; 0 where it is not known. `nulls`, `broken` and
    `first_broken` are those of `Skipped`.
    """

    sentences: int
    too_long: int
    reserved: int
    huge_characters: float
    bytes_read: int = 0
    nulls: int = 0
    broken: int = 0
    first_broken: str = ""

    @classmethod
    def of(cls, filters: Iterable[LineFilter], skipped: Skipped, size: int = 0) -> LineFacts:
        """Add up what several filters counted in a text of this size."""
        found = list(filters)
        return cls(
            sum(f.sentences for f in found),
            sum(f.too_long for f in found),
            sum(f.reserved for f in found),
            sum(f.huge_characters for f in found),
            size,
            skipped.nulls,
            skipped.broken,
            skipped.first_broken,
        )


class Source(Protocol):
    """Read buffers, in the order of the text."""

    def __iter__(self) -> Iterator[Buffer]:
        """Read the text."""

    def size(self) -> int | None:
        """Return the size in bytes, or None where it is not known beforehand."""

    def __len__(self) -> int:
        """Return the number of read buffers that can be loaded again."""

    def why_once(self) -> str:
        """Tell why the text can be read only once; empty if it can be read again."""

    def again(self, indexes: Iterable[int]) -> Iterator[tuple[int, Callable[[], Buffer]]]:
        """Yield some indexes, in their order, each with a function that loads its read buffer."""

    def facts(self) -> LineFacts | None:
        """Return how many lines were kept and skipped; None before they have passed the filter."""

    def skipped(self) -> Skipped:
        """Return how many records were no sentences, once all were read."""


class LineSource(Source, Protocol):
    """Read buffers of lines, which have not passed a filter."""

    def __iter__(self) -> Iterator[ReadBuffer]:
        """Read the text."""


def open_source(
    text: TextPlan, items: Iterable[str | bytes] | None, report: Report
) -> Files | Items:
    """Return the source of a run: the iterator if there is one, else the files of the plan."""
    return Files(text, report) if items is None else Items(items, text.split_lines)


def sample_sentences(
    source: LineSource, text: TextPlan, workers: Workers, report: Report
) -> Source:
    """Return the sample of the source that the plan wants, or the source itself.

    Raises
    ------
    TrainingError
        If the source cannot be read.
    """
    if text.input_sentence_size == 0:
        return source
    sample = ReservoirSample(
        text.input_sentence_size,
        text.shuffle_input_sentence,
        text.sampling_seed,
        text.sample_is_repeatable,
        text.sample_multiplies,
    )
    line_filter = LineFilter(text)
    with report.stage("Reading", source.size(), "bytes") as stage:
        for buffer in source:
            workers.call(partial(sample.add, buffer, line_filter))
            stage.advance(buffer.input_size)
            if sample.done:
                break
    report.info(f"Sampled {len(sample)} sentences from {sample.offered} sentences.")
    return SampleSource(sample, LineFacts.of([line_filter], source.skipped()))


class Items:
    """The items of an iterator, each a sentence.

    Parameters
    ----------
    items : iterable of str or bytes
        The items.
    split_lines : bool
        Whether every line of an item is a sentence.
    """

    def __init__(self, items: Iterable[str | bytes], split_lines: bool = False) -> None:
        self._items = items
        self._split_lines = split_lines

    def __len__(self) -> int:
        """Return 0: no item can be loaded again."""
        return 0

    def size(self) -> None:
        """Return None: the size is not known beforehand."""

    def why_once(self) -> str:
        """Tell why the text can be read only once."""
        return "an iterator can be read only once"

    def __iter__(self) -> Iterator[ReadBuffer]:
        """Take the items in order."""
        iterator = iter(self._items)
        first = 1
        while True:
            try:
                buffer = ReadBuffer.of_items(iterator, first)
            except (TrainingError, MemoryError):
                raise
            except Exception as error:
                raise TrainingError(
                    f"INTERNAL: the sentence iterator raised {type(error).__name__}: {error}"
                ) from error
            if buffer is None:
                return
            items = buffer.lines
            if self._split_lines:
                buffer.split_lines()
            yield buffer
            first += items

    def again(self, indexes: Iterable[int]) -> Iterator[tuple[int, Callable[[], ReadBuffer]]]:
        """Raise an error, because the items cannot be read again."""
        raise TrainingError(self.why_once())

    def facts(self) -> None:
        """Return None: no item has passed a filter."""

    def skipped(self) -> Skipped:
        """Return that every item is a sentence."""
        return Skipped()


class SampleSource:
    """Sampled sentences, which stay in memory."""

    def __init__(self, sample: ReservoirSample, facts: LineFacts) -> None:
        self._sample = sample
        self._facts = facts

    def __iter__(self) -> Iterator[SampleSlice]:
        """Take the sentences in order."""
        return (self._slice(index) for index in range(len(self)))

    def size(self) -> int:
        """Return the size in bytes."""
        return SampleSlice(self._sample, 0, len(self._sample)).size

    def __len__(self) -> int:
        """Return the number of slices."""
        return (len(self._sample) + _SLICE_SENTENCES - 1) // _SLICE_SENTENCES

    def why_once(self) -> str:
        """Return nothing: a sample can be read again."""
        return ""

    def again(self, indexes: Iterable[int]) -> Iterator[tuple[int, Callable[[], SampleSlice]]]:
        """Yield some indexes, each with a function that returns its slice of the sample."""
        return ((index, partial(self._slice, index)) for index in indexes)

    def _slice(self, index: int) -> SampleSlice:
        first = index * _SLICE_SENTENCES
        last = min(first + _SLICE_SENTENCES, len(self._sample))
        return SampleSlice(self._sample, first, last)

    def facts(self) -> LineFacts:
        """Tell what became of the lines that were offered to the sample."""
        return self._facts

    def skipped(self) -> Skipped:
        """Return nothing: `facts` tells what was skipped."""
        return Skipped()


class SelfTestSource:
    """A source whose sentences are also offered to the sample for the model's self tests.

    Attributes
    ----------
    sample : ReservoirSample
        The lines; complete when the text was read.
    """

    def __init__(self, source: LineSource, text: TextPlan) -> None:
        self._source = source
        self._text = text
        among = 0 if text.shuffle_input_sentence else text.input_sentence_size
        self.sample = ReservoirSample(
            text.self_test_sample_size,
            True,
            text.self_test_seed,
            text.self_test_is_repeatable,
            text.sample_multiplies,
            among,
        )

    def __iter__(self) -> Iterator[ReadBuffer]:
        """Read the text, and offer its sentences to the sample until that is complete."""
        line_filter = LineFilter(self._text)
        for buffer in self._source:
            if not self.sample.done:
                self.sample.add(buffer, line_filter)
            yield buffer

    def size(self) -> int | None:
        """Return the size in bytes, or None where it is not known beforehand."""
        return self._source.size()

    def __len__(self) -> int:
        """Return the number of read buffers that can be loaded again."""
        return len(self._source)

    def why_once(self) -> str:
        """Tell why the text can be read only once; empty if it can be read again."""
        return self._source.why_once()

    def again(self, indexes: Iterable[int]) -> Iterator[tuple[int, Callable[[], Buffer]]]:
        """Yield some indexes, in their order, each with a function that loads its read buffer."""
        return self._source.again(indexes)

    def facts(self) -> LineFacts | None:
        """Return how many lines were kept and skipped; None before they have passed the filter."""
        return self._source.facts()

    def skipped(self) -> Skipped:
        """Return how many records were no sentences, once all were read."""
        return self._source.skipped()
