"""From files or an iterator to a corpus of distinct words."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from spmcompat.corpus.corpus import (
    BLOCK_BYTES,
    Batch,
    Block,
    Builder,
    Corpus,
    Folder,
    Sample,
    Sentences,
    TextRules,
    WordsNotKeptError,
)
from spmcompat.corpus.coverage import choose_alphabet
from spmcompat.errors import MissingFileError, TrainingError
from spmcompat.progress import Report, Stage
from spmcompat.workers import Workers

_SAMPLE_BLOCK = 1 << 14  # sentences
# Below this much text the words of the sentences are kept whatever they are.
_SURE_BYTES = 1 << 24


@dataclass(frozen=True)
class CorpusOptions:
    """What of the specifications concerns the corpus; names and defaults are theirs."""

    input: tuple[str, ...] = ()
    tsv: bool = False
    input_sentence_size: int = 0
    shuffle_input_sentence: bool = True
    sampling_seed: int = 0
    max_sentence_length: int = 4192
    character_coverage: float = 0.9995
    required_chars: str = ""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    treat_whitespace_as_suffix: bool = False
    pretokenization_delimiter: str = ""
    max_piece_length: int = 16
    split_by_unicode_script: bool = True
    split_by_number: bool = True
    split_by_whitespace: bool = True
    split_digits: bool = False
    allow_whitespace_only_pieces: bool = False


class _Reader:
    """Folds blocks as they come, and knows how far the words of sentences must be kept.

    Where U+2581 is so rare that it may fall below the coverage, words merge into sentences
    again; then, and only then, the words of every sentence are needed.
    """

    def __init__(self, options: CorpusOptions, rules: TextRules, workers: Workers, keep: bool):
        self.options = options
        self.workers = workers
        self.keep = keep
        self.folders = [Folder(i, rules) for i in range(workers.count)]
        self.sentences = [
            Sentences(options.max_sentence_length, options.tsv) for _ in range(workers.count)
        ]
        self.batches: dict[int, Batch] = {}
        self.text_bytes = 0
        self.text_words = 0
        self.has_words = options.split_by_whitespace and "\u2581" not in options.required_chars

    def fold(self, blocks: Iterable[Block], stage: Stage) -> None:
        def work(worker: int, task: tuple[int, Block]) -> None:
            index, block = task
            folder, sentences = self.folders[worker], self.sentences[worker]
            self._record(index, folder.add(index, block, sentences, self.has_words))
            stage.advance(block.size)

        self.workers.run(enumerate(blocks), work)

    def fold_sample(self, sample: Sample) -> None:
        def work(worker: int, task: tuple[int, int]) -> None:
            index, first = task
            last = min(first + _SAMPLE_BLOCK, len(sample))
            batch = self.folders[worker].add_sample(index, sample, first, last, self.has_words)
            self._record(index, batch)

        self.workers.run(enumerate(range(0, len(sample), _SAMPLE_BLOCK)), work)

    def _record(self, index: int, batch: Batch) -> None:
        self.batches[index] = batch
        self.text_bytes += batch.text_bytes
        self.text_words += batch.text_words
        rare = 4 * (1 - self.options.character_coverage) * self.text_bytes
        if self.text_bytes > _SURE_BYTES and self.text_words > rare and not self.keep:
            self.has_words = False

    def finish(self, builder: Builder) -> None:
        self.workers.run(self.folders, lambda _, folder: folder.finish())
        ordered = [self.batches[i] for i in range(len(self.batches))]
        self.workers.call(lambda: builder.merge(self.folders, ordered, self.has_words))


def read_corpus(
    options: CorpusOptions,
    charsmap: bytes,
    symbols: list[bytes],
    items: Iterable[str | bytes] | None,
    workers: Workers,
    report: Report,
) -> Corpus:
    """Read, normalize and fold all sentences.

    Parameters
    ----------
    options : CorpusOptions
        Where the text is and how it is read.
    charsmap : bytes
        Compiled normalization rules.
    symbols : list of bytes
        Meta pieces, in UTF-8: where one stands in the text, no piece crosses it.
    items : iterable of str or bytes, optional
        Sentences, instead of ``options.input``.
    workers : Workers
        Real threads; the corpus is the same for any number of them.
    report : Report
        Told the stage and the facts.

    Returns
    -------
    Corpus
        Distinct segments, words and the alphabet.

    Raises
    ------
    TrainingError
        For a corpus that cannot be read or holds nothing to train on.
    """
    try:
        rules = TextRules(charsmap, symbols, options)
    except RuntimeError as error:
        raise TrainingError(f"INTERNAL: {error}") from None
    try:
        return _read(options, rules, items, workers, report, keep=False)
    except WordsNotKeptError:
        if items is not None:
            raise TrainingError(
                "U+2581 (the space mark) falls below character_coverage only late in this "
                "iterator. Write the text to a file, or put U+2581 into required_chars."
            ) from None
        return _read(options, rules, items, workers, report, keep=True)


def _read(
    options: CorpusOptions,
    rules: TextRules,
    items: Iterable[str | bytes] | None,
    workers: Workers,
    report: Report,
    keep: bool,
) -> Corpus:
    reader = _Reader(options, rules, workers, keep)
    blocks = _blocks_of_files(options.input, report) if items is None else _blocks_of_items(items)
    with report.stage("Reading", _size_of_files(options.input), "bytes") as stage:
        if options.input_sentence_size > 0:
            sample = Sample(
                options.input_sentence_size, options.shuffle_input_sentence, options.sampling_seed
            )
            _take_sample(blocks, sample, reader.sentences[0], workers, stage)
            report.info(f"Sampled {len(sample)} sentences from {sample.offered} sentences.")
            reader.fold_sample(sample)
        else:
            reader.fold(blocks, stage)
    _report_lines(reader.sentences, options, report)
    builder = Builder(rules)
    reader.finish(builder)
    alphabet, covered = choose_alphabet(
        workers.call(builder.characters), options.character_coverage, options.required_chars
    )
    report.info(f"Alphabet size={len(alphabet)}")
    report.info(f"Final character coverage={covered:g}")
    corpus = workers.call(lambda: builder.build(alphabet))
    report.info(f"Done! preprocessed {builder.sentences} sentences.")
    return corpus


def _take_sample(
    blocks: Iterable[Block],
    sample: Sample,
    sentences: Sentences,
    workers: Workers,
    stage: Stage,
) -> None:
    """Offer the blocks one after the other, and read no further than the sample needs."""
    for block in blocks:
        workers.call(partial(sample.add, block, sentences))
        stage.advance(block.size)
        if sample.done:
            return


def _size_of_files(paths: Iterable[str]) -> int | None:
    """Return the size in bytes, or None where it is not known beforehand."""
    try:
        return sum(os.stat(path).st_size for path in paths) or None
    except OSError:
        return None


def _blocks_of_files(paths: Sequence[str], report: Report) -> Iterator[Block]:
    """Read the files in order.

    From an empty file that is not the last, the reference reads one line: the last line of the
    file before once more if that lacks its line end, else an empty one.
    """
    line = b""
    for number, path in enumerate(paths, 1):
        report.info(f"Loading corpus: {path}")
        empty = True
        try:
            with open(path or 0, "rb", buffering=0) as file:
                for block in _blocks_of_file(file, path or "standard input"):
                    yield block
                    line = block.unfinished_line()
                    empty = False
        except OSError as error:
            raise MissingFileError(
                f'NOT_FOUND: "{path}": {os.strerror(error.errno or 0)}: check --input.'
            ) from error
        if empty and number < len(paths):
            yield Block.of_lines(line + b"\n", path, 1)


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes | None: ...


def _blocks_of_file(file: _Readable, name: str) -> Iterator[Block]:
    """Cut a file at line ends; a line longer than a block is read whole."""
    rest: list[bytes] = []
    line = 1
    while chunk := file.read(BLOCK_BYTES):
        end = chunk.rfind(b"\n") + 1
        if end == 0:
            rest.append(chunk)
            continue
        text = b"".join([*rest, chunk[:end]])
        yield Block.of_lines(text, name, line)
        line += text.count(b"\n")
        rest = [chunk[end:]]
    if text := b"".join(rest):
        yield Block.of_lines(text, name, line)


def _blocks_of_items(items: Iterable[str | bytes]) -> Iterator[Block]:
    iterator = iter(items)
    first = 1
    while True:
        try:
            block = Block.of_items(iterator, first)
        except TrainingError:
            raise
        except Exception as error:
            raise TrainingError(
                f"INTERNAL: the sentence iterator raised {type(error).__name__}: {error}"
            ) from error
        if block is None:
            return
        yield block
        first += block.lines


def _report_lines(filters: list[Sentences], options: CorpusOptions, report: Report) -> None:
    accepted = sum(f.accepted for f in filters)
    too_long = sum(f.too_long for f in filters)
    reserved = sum(f.reserved for f in filters)
    report.info(f"Loaded all {accepted} sentences")
    if too_long:
        report.warning(
            f"Skipped {too_long} too long sentences (over {options.max_sentence_length} bytes; "
            "raise --max_sentence_length to train on them)."
        )
    if reserved:
        report.warning(f"Skipped {reserved} sentences that hold the reserved character U+2585.")
    if accepted == 0:
        raise TrainingError(
            "The input holds no sentence: all lines are empty, too long or reserved. "
            "Check --input and --max_sentence_length."
        )
