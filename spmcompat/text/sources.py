"""The sources of sentences: files, iterators, Arrow data, and samples of these.

Iterating over a source reads the text once, in read buffers. Files and samples can also load single
read buffers again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, cast

from spmcompat.errors import ConflictError, ReadOnceError, WrongTypeError, naming_iterator_errors
from spmcompat.plan import TextPlan
from spmcompat.runtime.progress import Report
from spmcompat.text.files import Files
from spmcompat.text.lines import LineFilter, ReadBuffer, ReservoirSample, SampleSlice
from spmcompat.text.skipped import Skipped

if TYPE_CHECKING:
    from spmcompat.text.arrow_producers import Sentences

_SLICE_SENTENCES = 1 << 14

Buffer: TypeAlias = "ReadBuffer | SampleSlice"


class WordText(NamedTuple):
    """A text to read words from.

    Attributes
    ----------
    plan : TextPlan
        How to read the text, unless it is `sentences`.
    sentences : iterable of str or bytes, or Arrow data, optional
        The text.
    column : str, optional
        The column of Arrow data that contains the text.
    """

    plan: TextPlan
    sentences: Sentences | None = None
    column: str | None = None


class LineFacts(NamedTuple):
    """How many lines of the input were read, and how many were skipped.

    `lines` is the number of lines that are sentences. The numbers in `LineFilter.totals` are sums
    over all filters of the text.

    `bytes_read` is the size of the input, or 0 if it is not known. `nulls` is the number of records
    without text. `broken`, `first_broken` and `huge` come from `Skipped`; `too_long` includes the
    `huge` records, but `too_long_bytes` does not include their bytes. `divided` is the number of
    lines that were too long and were divided, and `parts` is the number of their parts. Each part
    is then treated as a line. `blank`, `nul` and `malformed` count sentences that normalize to
    nothing, contain NUL characters, or are not well-formed UTF-8. `places` maps each kind of
    skipped line to the place of the first line of this kind.
    """

    lines: int
    too_long: int
    reserved: int
    huge_characters: float
    bytes_read: int = 0
    nulls: int = 0
    broken: int = 0
    first_broken: str = ""
    empty: int = 0
    too_long_bytes: int = 0
    divided: int = 0
    parts: int = 0
    places: Mapping[str, str] = MappingProxyType({})
    huge: int = 0
    blank: int = 0
    nul: int = 0
    malformed: int = 0

    @classmethod
    def of(
        cls, filters: Sequence[LineFilter], size: int, nulls: int, skipped: Skipped
    ) -> LineFacts:
        """Add up the counts of several filters of one text."""
        totals: Counter[str] = Counter(too_long=skipped.huge)
        for line_filter in filters:
            totals.update(line_filter.totals)
        return cls(
            **totals,
            bytes_read=size,
            nulls=nulls,
            broken=skipped.broken,
            first_broken=skipped.first_broken,
            places=_first_places(filters, skipped),
            huge=skipped.huge,
        )


def _first_places(filters: Sequence[LineFilter], skipped: Skipped) -> dict[str, str]:
    """Return the place of the first skipped line of each kind."""
    first: dict[str, tuple[int, str]] = {}
    for line_filter in filters:
        for kind, place in line_filter.places.items():
            first[kind] = min(first.get(kind, place), place)
    places = {kind: where for kind, (_, where) in first.items()}
    if skipped.first_huge:
        places["huge"] = skipped.first_huge
    return places


class Source(Protocol):
    """A text that is read in buffers."""

    def __iter__(self) -> Generator[Buffer, None, None]:
        """Read the text in order. Closing the generator closes the input."""

    def size(self) -> int | None:
        """Return the size in bytes, or None if it is not known before reading."""
        return None

    def __len__(self) -> int:
        """Return the number of read buffers that can be loaded again."""
        return 0

    def why_once(self) -> str:
        """Return why the text can be read only once, or "" if it can be read again."""
        return ""

    def again(self, indexes: Iterable[int]) -> Iterator[tuple[int, Callable[[], Buffer]]]:
        """Yield each index, in the given order, with a function that loads its read buffer."""

    def facts(self) -> LineFacts | None:
        """Return how many lines were kept and skipped, or None if they were not filtered yet."""
        return None

    def skipped(self) -> Skipped:
        """Return how many records could not be read. Call it after reading the text."""
        return Skipped()


class LineSource(Source, Protocol):
    """A source whose lines have not been filtered yet."""

    def __iter__(self) -> Generator[ReadBuffer, None, None]:
        """Read the text in order. Closing the generator closes the input."""


def open_source(
    text: TextPlan, sentences: Sentences | None, report: Report, column: str | None = None
) -> LineSource:
    """Return the source of a run.

    Parameters
    ----------
    text : TextPlan
        How to read the text. Its files are read if `sentences` is None.
    sentences : iterable of str or bytes, or Arrow data, optional
        The sentences.
    report : Report
        Receives the names of the files.
    column : str, optional
        The column of Arrow data.

    Raises
    ------
    TrainingError
        If the column cannot be found, or does not contain strings.
    """
    if sentences is None:
        return Files(text, report)
    # A list of str does not need the modules for Arrow data.
    if isinstance(sentences, list | tuple):
        return Items(sentences, column, text)
    from spmcompat.text.arrow_producers import arrow_parts

    parts = arrow_parts(sentences, column)
    if parts is not None:
        return Items(parts, column, text, "Arrow data")
    items = cast("Iterable[str | bytes]", sentences)
    return Items(items, column, text, keeps_first_error=text.release.keeps_first_error)


def sample_sentences(source: LineSource, text: TextPlan, report: Report) -> Source:
    """Return the sample that the plan requires, or the source itself if no sample is required.

    Raises
    ------
    TrainingError
        If the source cannot be read.
    """
    if text.input_sentence_size == 0:
        return source
    sample = empty_sample(text)
    line_filter = LineFilter(text)
    nulls = 0
    with report.stage("Reading", source.size(), "bytes") as stage, closing(iter(source)) as buffers:
        for buffer in buffers:
            sample.add(buffer, line_filter)
            nulls += buffer.nulls
            stage.advance(buffer.input_size)
            if sample.done:
                break
    report.info(f"Sampled {len(sample)} sentences from {sample.offered} sentences.")
    return SampleSource(sample, LineFacts.of([line_filter], 0, nulls, source.skipped()))


def empty_sample(text: TextPlan) -> ReservoirSample:
    """Return the sample that the plan requires, before any text is offered to it."""
    return ReservoirSample(
        text.input_sentence_size,
        text.shuffle_input_sentence,
        text.sampling_seed,
        text.release.sample_is_repeatable,
        text.release.sample_multiplies,
    )


class Items(LineSource):
    """The items of an iterator: sentences, or parts of Arrow data. They can be read only once.

    Parameters
    ----------
    items : iterable
        The items.
    column : str, optional
        The column that contains the text, if the items are Arrow tables.
    text : TextPlan, optional
        States how to read the items.
    name : str
        The name of the items in messages.
    keeps_first_error : bool
        Whether an exception that the iterator raises before its first item is passed on unchanged.
        All others become a `TrainingError`.
    """

    def __init__(
        self,
        items: Iterable[Any],
        column: str | None = None,
        text: TextPlan | None = None,
        name: str = "an iterator",
        *,
        keeps_first_error: bool = False,
    ) -> None:
        self._items = items
        self._column = column
        self._split_lines = text is not None and text.split_lines
        self._longest = text and text.longest_record
        self._keeps_ends = text is not None and text.keeps_ends
        self._name = name
        self._keeps_first_error = keeps_first_error

    def __iter__(self) -> Generator[ReadBuffer, None, None]:
        """Read the text in order. Closing the generator closes the input."""
        with closing(self._buffers()) as buffers:
            for buffer in buffers:
                if self._split_lines:
                    buffer.split_lines()
                yield buffer

    def why_once(self) -> str:
        """Return why the text can be read only once."""
        return f"{self._name} can be read only once"

    def again(self, indexes: Iterable[int]) -> Iterator[tuple[int, Callable[[], ReadBuffer]]]:
        """Raise an error, because nothing can be read again."""
        raise ReadOnceError(self.why_once())

    def _buffers(self) -> Generator[ReadBuffer, None, None]:
        """Yield the read buffers in order."""
        iterator: Iterator[Any] = iter(self._items)
        start = self._start_of(iterator)
        items: Iterator[Any] = chain(start, iterator)
        if start and isinstance(start[0], list | tuple):  # batches, such as those of a data set
            items = iterator = _strings(items)
            start = []
        if start and not isinstance(start[0], str | bytes):
            from spmcompat.text.arrow_producers import is_arrow, strings_of

            if is_arrow(start[0]):
                del start  # Free the first part of the data before the next one is read.
                yield from strings_of(
                    items, self._column, longest=self._longest, keeps_ends=self._keeps_ends
                )
                return
            if isinstance(start[0], Mapping):
                raise WrongTypeError(
                    f"Iterator must return str or bytes. It returned {type(start[0]).__name__}. "
                    f"Give the texts: (row[{self._column or 'text'!r}] for row in rows)."
                )
        if start and self._column is not None:
            raise ConflictError(
                f"column={self._column!r} was given, but the sentences are not Arrow data. Leave "
                "column out."
            )
        first = 1
        while True:
            buffer = naming_iterator_errors(
                partial(
                    ReadBuffer.of_items,
                    items,
                    first,
                    self._longest,
                    keeps_ends=self._keeps_ends,
                )
            )
            if buffer is None:
                return
            yield buffer
            first += buffer.lines
            items = iterator

    def _start_of(self, iterator: Iterator[Any]) -> list[Any]:
        """Return the first item in a list, which is empty if there is none."""

        def take() -> list[Any]:
            return [*islice(iterator, 1)]

        return take() if self._keeps_first_error else naming_iterator_errors(take)


def _strings(items: Iterable[Any]) -> Iterator[Any]:
    """Yield the items of lists, and items that are not lists."""
    for item in items:
        if isinstance(item, list | tuple):
            yield from item
        else:
            yield item


class SampleSource(Source):
    """A sample of sentences in memory."""

    def __init__(self, sample: ReservoirSample, facts: LineFacts) -> None:
        self._sample = sample
        self._facts = facts

    def __iter__(self) -> Generator[SampleSlice, None, None]:
        """Yield the slices of the sample in order."""
        return (self._slice(index) for index in range(len(self)))

    def size(self) -> int:
        """Return the size of the sample in bytes."""
        return SampleSlice(self._sample, 0, len(self._sample)).size

    def __len__(self) -> int:
        """Return the number of slices."""
        return (len(self._sample) + _SLICE_SENTENCES - 1) // _SLICE_SENTENCES

    def again(self, indexes: Iterable[int]) -> Iterator[tuple[int, Callable[[], SampleSlice]]]:
        """Yield each index with a function that returns its slice of the sample."""
        return ((index, partial(self._slice, index)) for index in indexes)

    def _slice(self, index: int) -> SampleSlice:
        first = index * _SLICE_SENTENCES
        last = min(first + _SLICE_SENTENCES, len(self._sample))
        return SampleSlice(self._sample, first, last)

    def facts(self) -> LineFacts:
        """Return the facts of the whole source, not only of the sample."""
        return self._facts


class SelfTestSource(LineSource):
    """A source that also draws a sample of its sentences for the self-tests of the model.

    Attributes
    ----------
    sample : ReservoirSample
        The sample. It is complete after the text has been read.
    """

    def __init__(self, source: LineSource, text: TextPlan) -> None:
        self._source = source
        self._text = text
        among = 0 if text.shuffle_input_sentence else text.input_sentence_size
        self.sample = ReservoirSample(
            text.self_test_sample_size,
            True,
            text.sampling_seed if text.random_seed is None else text.random_seed,
            # Without a seed, the reference itself draws different lines in every process.
            text.random_seed is not None and text.release.sample_is_repeatable,
            text.release.sample_multiplies,
            among,
        )

    def __iter__(self) -> Generator[ReadBuffer, None, None]:
        """Read the text, and offer its sentences to the sample until the sample is complete."""
        line_filter = LineFilter(self._text)
        for buffer in self._source:
            if not self.sample.done:
                self.sample.add(buffer, line_filter)
            yield buffer

    def size(self) -> int | None:
        """Return the size in bytes, or None if it is not known before reading."""
        return self._source.size()

    def __len__(self) -> int:
        """Return the number of read buffers that can be loaded again."""
        return len(self._source)

    def why_once(self) -> str:
        """Return why the text can be read only once, or "" if it can be read again."""
        return self._source.why_once()

    def again(self, indexes: Iterable[int]) -> Iterator[tuple[int, Callable[[], Buffer]]]:
        """Yield each index, in the given order, with a function that loads its read buffer."""
        return self._source.again(indexes)

    def skipped(self) -> Skipped:
        """Return how many records could not be read. Call it after reading the text."""
        return self._source.skipped()
