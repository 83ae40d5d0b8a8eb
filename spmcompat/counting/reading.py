"""From files or an iterator to a corpus of distinct words."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from typing import NamedTuple

from spmcompat.counting.counter import Batch, Folder, TextRules
from spmcompat.errors import TrainingError
from spmcompat.pretokenization.pretokenizer import Cut, Pretokenizer, find_cut
from spmcompat.releases import DEFAULT, Release
from spmcompat.runtime.progress import Report, Stage
from spmcompat.runtime.workers import Workers
from spmcompat.segments.corpus import Corpus, SegmentCounts, return_freed_memory
from spmcompat.segments.coverage import (
    choose_alphabet,
    kept_alphabet,
    too_many_characters,
    whole_alphabet,
)
from spmcompat.segments.segmenter import Builder, WordsNotKeptError
from spmcompat.text.lines import Block, Sample, Sentences
from spmcompat.text.sources import Files, Items, Overheard, Sampled
from spmcompat.unicode.marks import SPACE_MARK

# Below this much text the words of the sentences are kept whatever they are.
_SURE_BYTES = 1 << 24


class CorpusOptions(NamedTuple):
    """What of the specifications concerns the corpus; names and defaults are theirs."""

    input: tuple[str, ...] = ()
    tsv: bool = False
    input_sentence_size: int = 0
    shuffle_input_sentence: bool = True
    sampling_seed: int = 0
    max_sentence_length: int = 4192
    character_coverage: float = 0.9995
    required_chars: str = ""
    all_characters: bool = False
    """Whether every character is kept, however rare."""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    treat_whitespace_as_suffix: bool = False
    space_begins_word: bool = False
    """Whether words are cut before white space even where it is treated as a suffix."""
    spaces_apart: bool = False
    """Whether words are what stands between spaces, and spaces count for nothing."""
    pretokenization_delimiter: str = ""
    pretokenizer: Cut | str | None = None
    allow_inconsistent_pretokenization: bool = False
    max_piece_length: int = 16
    split_by_unicode_script: bool = True
    split_by_number: bool = True
    split_by_whitespace: bool = True
    split_digits: bool = False
    allow_whitespace_only_pieces: bool = False
    for_seeds: bool = True
    """Whether seeds are looked for in the corpus."""
    chunk_bytes: int = 500 << 20
    """Of normalized text, in one search of seeds; fixed in the reference."""
    overheard: Overheard | None = None
    """Draws a sample from the text while it is read."""
    release: Release = DEFAULT


class _Reader:
    """Folds blocks as they come, and knows how far the words of sentences must be kept.

    Where U+2581 is so rare that it may fall below the coverage, words merge into sentences
    again; then, and only then, the words of every sentence are needed.
    """

    def __init__(
        self,
        options: CorpusOptions,
        rules: TextRules,
        workers: Workers,
        keep: bool = False,
        ordered: bool = True,
    ):
        self.options = options
        self.workers = workers
        self.keep = keep or rules.looks_at_text_end
        self.folders = [Folder(i, rules) for i in range(workers.count)]
        self.sentences = [_sentences(options) for _ in range(workers.count)]
        self.beside: _Reader | None = None  # reads the same text by other rules
        self.lock = threading.Lock()  # of what follows
        self.batches: dict[int, Batch] = {}
        self.text_bytes = 0
        self.text_words = 0
        self.filled = 0  # sentences that are not empty
        self.forgotten = (0, 0)  # batches at the front, and their sentences
        self.keeps_order = rules.keeps_order
        self.ordered = ordered
        self.has_words = (
            ordered
            and not rules.whole_sentences
            and (self.keep or not (options.spaces_apart or SPACE_MARK in options.required_chars))
        )

    def fold(self, blocks: Iterable[Block], stage: Stage) -> None:
        def work(worker: int, task: tuple[int, Block]) -> None:
            index, block = task
            for reader in self._readers():
                folder, sentences = reader.folders[worker], reader.sentences[worker]
                reader._record(index, folder.add(index, block, sentences, reader.has_words))
            stage.advance(block.size)

        self.workers.feed(enumerate(blocks), work)

    def fold_sample(self, sampled: Sampled) -> None:
        def work(worker: int, index: int) -> None:
            for reader in self._readers():
                folder = reader.folders[worker]
                reader._record(index, sampled.fold(index, folder, reader.has_words))

        self.workers.run(range(len(sampled)), work)

    def _readers(self) -> list[_Reader]:
        return [self] if self.beside is None else [self, self.beside]

    def _record(self, index: int, batch: Batch) -> None:
        if not self.ordered:
            return
        with self.lock:
            self.batches[index] = batch
            self.text_bytes += batch.text_bytes
            self.text_words += batch.text_words
            self.filled += batch.filled
            rare = 4 * (1 - self.options.character_coverage) * self.text_bytes
            is_sure = self.text_bytes > _SURE_BYTES and self.text_words > rare
            if self.has_words and is_sure and not self.keep:
                self.has_words = False
                for earlier in self.batches.values():
                    earlier.drop_words()
            if not self.has_words:
                batch.drop_words()  # another worker may have found that out meanwhile
                if not self.keeps_order:
                    self._forget_sentences()

    def _forget_sentences(self) -> None:
        """Forget those that do not end the text, whatever follows.

        The last sentences take the places of empty ones. So the one that ends the text stands
        behind as many others as are not empty, or behind more.
        """
        number, passed = self.forgotten
        while (batch := self.batches.get(number)) and passed + batch.sentences < self.filled:
            batch.forget()
            number += 1
            passed += batch.sentences
        self.forgotten = number, passed

    def finish(self, builder: Builder) -> None:
        ordered = [self.batches[i] for i in range(len(self.batches))]
        builder.merge(self.folders, ordered, self.has_words)


class UnorderedText:
    """A text of which neither order nor context is kept.

    Attributes
    ----------
    alphabet : list of (int, int)
        Required characters (code points) with their counts, by count descending.
    """

    def __init__(
        self, alphabet: list[tuple[int, int]], folders: list[Folder], workers: Workers
    ) -> None:
        self.alphabet = alphabet
        self._folders = folders
        self._workers = workers

    def cut(self, delimiter: bytes = b"", longest: int = 0) -> SegmentCounts:
        """Return the distinct segments of required characters. Nothing of the text is left then.

        Parameters and errors are those of `Corpus.cut`.
        """
        required = [c for c, _ in self.alphabet]
        parts: list[SegmentCounts] = []

        def work(_: int, folder: Folder) -> None:
            parts.append(folder.segments(required, delimiter, longest))

        self._workers.run(self._folders, work)
        segments = parts.pop()
        while parts:
            self._workers.call(partial(segments.add, parts.pop()))
        return segments


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
    return_freed_memory()
    twice = options.for_seeds and options.tsv and options.release.seeds_see_lines_twice
    delimited = options.for_seeds and _takes_out_delimiters(options)
    seed_rules = None
    if twice or delimited:
        seed_rules = _rules(options, charsmap, symbols, workers, copies=2 if twice else 0)
    for_seeds = options.for_seeds and seed_rules is None
    rules = _rules(options._replace(for_seeds=for_seeds), charsmap, symbols, workers)
    source = _source(options, items, report)
    try:
        return _read(options, rules, seed_rules, source, workers, report, keep=False)
    except WordsNotKeptError:
        if why := source.why_once():
            raise TrainingError(
                "U+2581 (the space mark) falls below character_coverage only late in the text, "
                f"which has to be read again, but {why}. Write it to a file, or put U+2581 into "
                "required_chars."
            ) from None
        return _read(options, rules, seed_rules, source, workers, report, keep=True)


def read_unordered(
    options: CorpusOptions,
    charsmap: bytes,
    symbols: list[bytes],
    items: Iterable[str | bytes] | None,
    workers: Workers,
    report: Report,
) -> UnorderedText:
    """Read, normalize and fold all sentences, but keep no order.

    Parameters, text and errors are those of `read_corpus`.
    """
    return_freed_memory()
    rules = _rules(options, charsmap, symbols, workers, ordered=False)
    reader = _Reader(options, rules, workers, ordered=False)
    _fold(reader, _source(options, items, report), report)
    report.step("Counting characters")
    found: list[dict[int, int]] = []
    workers.run(reader.folders, lambda _, folder: found.append(folder.characters()))
    counts: Counter[int] = Counter()
    for characters in found:
        counts.update(characters)
    if options.spaces_apart:
        del counts[ord(SPACE_MARK)]
    whole = options.all_characters
    alphabet = (
        whole_alphabet(counts, options.release.boundary)
        if whole
        else _alphabet(counts, options, report)
    )
    return UnorderedText(alphabet, reader.folders, workers)


def _rules(
    options: CorpusOptions,
    charsmap: bytes,
    symbols: list[bytes],
    workers: Workers,
    ordered: bool = True,
    copies: int = 0,
) -> TextRules:
    pretokenize = None
    if cut := find_cut(options.pretokenizer):
        consistent = not options.allow_inconsistent_pretokenization
        pretokenize = Pretokenizer(cut, consistent, workers.cancel)
    try:
        return TextRules(charsmap, symbols, options, ordered, pretokenize, copies)
    except RuntimeError as error:
        raise TrainingError(f"INTERNAL: {error}") from None


def _takes_out_delimiters(options: CorpusOptions) -> bool:
    return bool(options.pretokenization_delimiter) and options.release.delimiter_leaves_words


def _sentences(options: CorpusOptions) -> Sentences:
    return Sentences(options.max_sentence_length, options.tsv, options.release)


def _source(
    options: CorpusOptions, items: Iterable[str | bytes] | None, report: Report
) -> Files | Items:
    if items is None:
        release = options.release
        return Files(options.input, options.max_sentence_length, options.tsv, release, report)
    return Items(items)


def _alphabet(
    counts: Mapping[int, int], options: CorpusOptions, report: Report
) -> list[tuple[int, int]]:
    alphabet, covered = choose_alphabet(
        counts,
        options.character_coverage,
        options.required_chars,
        boundary=options.release.boundary,
        needs_text=options.release.needs_text,
    )
    report.info(f"Alphabet size={len(alphabet)}")
    report.info(f"Final character coverage={covered:g}")
    return alphabet


def _fold(reader: _Reader, source: Files | Items, report: Report) -> Files | Items | Sampled:
    """Let the reader fold the text, or a sample of it; return what was folded."""
    options = reader.options
    kept: Files | Items | Sampled = source
    blocks: Iterable[Block] = source
    if options.overheard is not None:
        among = 0 if options.shuffle_input_sentence else options.input_sentence_size
        blocks = options.overheard.hear(source, _sentences(options), among)
    with report.stage("Reading", source.size(), "bytes") as stage:
        if options.input_sentence_size > 0:
            sample = Sample(
                options.input_sentence_size,
                options.shuffle_input_sentence,
                options.sampling_seed,
                narrow=options.release.sample_is_repeatable,
            )
            _take_sample(blocks, sample, reader.sentences[0], reader.workers, stage)
            report.info(f"Sampled {len(sample)} sentences from {sample.offered} sentences.")
            kept = Sampled(sample)
            reader.fold_sample(kept)
        else:
            reader.fold(blocks, stage)
    _report_lines(reader.sentences, options, report)
    return kept


def _read(
    options: CorpusOptions,
    rules: TextRules,
    seed_rules: TextRules | None,
    source: Files | Items,
    workers: Workers,
    report: Report,
    keep: bool,
) -> Corpus:
    reader = _Reader(options, rules, workers, keep)
    if seed_rules is not None:
        reader.beside = _Reader(options, seed_rules, workers, keep)
    kept = _fold(reader, source, report)
    report.step("Merging words")
    builder = Builder(rules, workers)
    reader.finish(builder)
    counts = builder.characters()
    if not options.all_characters:
        alphabet = _alphabet(counts, options, report)
    elif builder.nuls:
        raise TrainingError(
            "The text holds U+0000, which cannot be kept as a character, and "
            "auto_character_coverage keeps every one. Remove it from the text."
        )
    else:
        alphabet = kept_alphabet(counts, options.release.boundary)
    report.step("Cutting words into segments")
    corpus = builder.build(alphabet)
    report.info(f"Done! preprocessed {builder.sentences} sentences.")
    if reader.beside is not None and seed_rules is not None:
        seed_builder = Builder(seed_rules, workers)
        reader.beside.finish(seed_builder)
        corpus.seed_text = seed_builder.build(alphabet)
        if _takes_out_delimiters(options):
            corpus.seed_text.alphabet = whole_alphabet(
                builder.part_characters, options.release.boundary
            )
    if options.release.seeds_in_chunks and corpus.text_bytes > options.chunk_bytes:
        from spmcompat.segments.seeding_chunks import Chunks  # noqa: PLC0415

        corpus.drop_uses()
        corpus.chunks = Chunks(
            kept, rules, alphabet, builder.sentences, options.chunk_bytes, workers, report
        )
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
    # A sample leaves most sentences out; its counts are checked with the alphabet alone.
    if not options.input_sentence_size and sum(f.huge_characters for f in filters) >= 2**64:
        raise too_many_characters()
    if accepted == 0:
        raise TrainingError(
            "The input holds no sentence: all lines are empty, too long or reserved. "
            "Check --input and --max_sentence_length."
        )
