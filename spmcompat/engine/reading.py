"""Reads a text as training does, with given options or with those that a model stores."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import copy, deepcopy
from typing import TYPE_CHECKING, NamedTuple

from spmcompat.counting.counts import Counts
from spmcompat.model.meta_pieces import MetaPiece
from spmcompat.model.pieces import NORMAL, UNUSED, is_learned
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.options.arguments import check_sentences, make_lists
from spmcompat.options.checks import check_options, check_pretokenization, input_files, verify
from spmcompat.options.from_keywords import from_values
from spmcompat.options.job import plan_of, stored_of, unigram_options
from spmcompat.options.option import TRAINER
from spmcompat.options.settings import Settings, with_charsmaps
from spmcompat.options.table import OPTIONS
from spmcompat.plan import Plan
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.segments.corpus import Corpus, SegmentCounts
from spmcompat.segments.coverage import choose_alphabet
from spmcompat.segments.cutting import (
    alphabet_of_counts,
    counts_and_alphabet,
    cut_corpus,
    cut_for_bpe,
)
from spmcompat.text.sources import Source, open_source, sample_sentences
from spmcompat.training import make_model
from spmcompat.unicode.marks import SPACE_MARK, UNKNOWN_MARK
from spmcompat.unigram.options import UnigramOptions

if TYPE_CHECKING:
    import pyarrow as pa

    from spmcompat.stored_counts.origin import Origin
    from spmcompat.text.arrow_producers import Sentences

TEXT_OPTIONS = (
    *(option.name for option in OPTIONS.values() if option.selects_text),
    "max_sentence_length",
    "long_sentences",
    "column",
    "counts",
    "pretokenizer",
    "strict",
    "workers",
    "minloglevel",
)
"""The training options that a user may set for a text; the model determines all other options."""

_FIELDS_OF_TEXT = ("input", "input_format", "input_sentence_size", "shuffle_input_sentence")


class GivenText(NamedTuple):
    """A text that a user gives to a tool, with the options for reading it.

    Attributes
    ----------
    settings : Settings
        The settings made from the options.
    options : mapping
        The options that the user set, by name. If they include `max_sentence_length` or
        `character_coverage`, that option replaces the one of the model.
    sentences : iterable of str or bytes, or Arrow data, optional
        The text, unless it is read from files or counts.
    """

    settings: Settings
    options: Mapping[str, object]
    sentences: Sentences | None = None

    @property
    def files(self) -> list[str]:
        """The files from which the text and its options are read. No output may replace them."""
        return input_files(self.settings)

    @property
    def min_log_level(self) -> int:
        """The level from which on messages are shown."""
        return self.settings.min_log_level

    def check(self) -> dict[int, MetaPiece]:
        """Raise if the text cannot be read, or an option is not possible. Return the meta pieces.

        Raises
        ------
        TrainingError
            If there is no text or it cannot be read, or options contradict each other.
        """
        has_sentences = self.sentences is not None
        return verify(self.settings, has_sentences=has_sentences, has_writer=True)

    def workers(self) -> Workers:
        """Return as many worker threads as the user chose."""
        return Workers(self.settings.workers)

    def counted(
        self, report: Report, allow_empty: bool = False
    ) -> tuple[Origin, Iterator[pa.RecordBatch]]:
        """Count the text for stored counts. See `spmcompat.counts.count_text`."""
        from spmcompat.counts import count_text  # noqa: PLC0415
        from spmcompat.options.from_counts import counting_job  # noqa: PLC0415

        job = counting_job(self.options, self.settings, self.sentences is not None)
        return count_text(job, self.sentences, report, allow_empty)


def text_of(sentences: Sentences | None = None, **options: object) -> GivenText:
    """Return a text that the options of `spmcompat.train` name.

    Parameters
    ----------
    sentences : iterable of str or bytes, or Arrow data, optional
        The text, unless ``input`` or ``counts`` names it.
    **options
        Options of training, as `spmcompat.train` takes them.

    Raises
    ------
    TrainingError
        If an option does not exist, or its value cannot be read.
    """
    make_lists(options)
    check_sentences(sentences)
    return GivenText(from_values(options), options, sentences)


class Text(NamedTuple):
    """A text that was read and counted.

    Attributes
    ----------
    counts : Counts
        The counts that training starts from.
    alphabet : list of (int, int)
        The characters that must be pieces, with their counts in the text.
    plan : Plan
        How the text was read.
    source : Source or None
        The text; None if stored counts were given instead of a text.
    settings : Settings
        The settings with which it was read.
    meta_pieces : int
        The number of meta pieces.
    """

    counts: Counts
    alphabet: list[tuple[int, int]]
    plan: Plan
    source: Source | None
    settings: Settings
    meta_pieces: int

    @property
    def unigram(self) -> UnigramOptions:
        """The options with which training would learn a Unigram model from the text."""
        return unigram_options(self.settings, self.meta_pieces)

    def required_characters(self, others: str) -> set[str]:
        """Return the characters that the coverage of the text requires, and `others`."""
        coverage, boundary = self.settings.trainer.character_coverage, self.plan.cutting.boundary
        return set(map(chr, _covered(self.alphabet, coverage, others, boundary)))

    def corpus(self, workers: Workers, report: Report) -> Corpus:
        """Return the corpus from which a Unigram model is trained. The counts are empty then."""
        plan, source = self.plan, self.source
        corpus = cut_corpus(self.counts, self.alphabet, plan, source, workers, report)
        corpus.alphabet = [(character, count) for character, count in self.alphabet if count > 0]
        return corpus

    def segments(self, workers: Workers, report: Report) -> SegmentCounts:
        """Return the segments from which a BPE model is trained. The counts are empty then."""
        return cut_for_bpe(self.counts, self.alphabet, self.plan, workers, report)

    def model(self, pieces: list[tuple[bytes, float]]) -> bytes:
        """Return the model that training would write with these pieces and scores.

        The ids of the pieces follow those of the meta pieces, in the order of the list.
        """
        settings = self.settings
        stored = stored_of(settings, check_options(settings))
        return make_model(pieces, settings.trainer, stored, (), settings.release).model


def read(given: GivenText, workers: Workers, report: Report) -> Text:
    """Read and count a text as training does.

    Parameters
    ----------
    given : GivenText
        The text and the options.
    workers : Workers
        The threads to use. Their number does not change the result.
    report : Report
        Receives log lines and progress.

    Raises
    ------
    TrainingError
        If the text cannot be read, or training is not possible with the options.
    """
    settings = with_charsmaps(given.settings)
    meta = given.check()
    symbols = [piece.piece for piece in meta.values()]
    return _read(plan_of(settings, symbols), settings, len(symbols), given, workers, report)


def read_like(model: ModelProto, given: GivenText, workers: Workers, report: Report) -> Text:
    """Read and count a text as training did when a model was trained.

    Parameters
    ----------
    model : ModelProto
        The model. Its specs decide how text is normalized and cut, and how long a piece may be.
        Training need not be possible with the options that the model stores. Where a number is out
        of the range of its option, the default is used: the model was not trained with this number.
    given : GivenText
        The text. Only the input, the workers and the messages are taken from its settings.
    workers : Workers
        The threads to use. Their number does not change the result.
    report : Report
        Receives log lines and progress.

    Returns
    -------
    Text
        Its alphabet also contains the characters of the model.

    Raises
    ------
    TrainingError
        If the text cannot be read, or the user's pretokenizer is not possible with an option of the
        model.
    """
    settings = _settings_of(model, given.settings, given.options)
    symbols = [one.piece for one in model.pieces if not is_learned(one)]
    plan = plan_of(settings, symbols)
    # Count all characters. The coverage is not applied until later, because it must not drop
    # characters of the model.
    coverage = plan.coverage
    plan = plan._replace(coverage=coverage._replace(character_coverage=math.inf))
    text = _read(plan, settings, len(symbols), given, workers, report)
    share, required = coverage.character_coverage, coverage.required_chars
    known = _covered(text.alphabet, share, required, plan.cutting.boundary)
    known.update(map(ord, required))
    return text._replace(alphabet=[one for one in text.alphabet if one[0] in known])


def _read(
    plan: Plan,
    settings: Settings,
    meta_pieces: int,
    given: GivenText,
    workers: Workers,
    report: Report,
) -> Text:
    """Read and count a text, or load its counts."""
    source = None
    if settings.counts is None:
        lines = open_source(plan.text, given.sentences, report, settings.column)
        source = sample_sentences(lines, plan.text, report)
        counts, alphabet = counts_and_alphabet(plan, source, workers, report)
    else:
        from spmcompat.stored_counts.loading import load  # noqa: PLC0415

        counts = load(plan, settings.counts, workers, report)
        alphabet = alphabet_of_counts(counts, plan, workers, report)
    return Text(counts, alphabet, plan, source, settings, meta_pieces)


def characters_of(model: ModelProto) -> set[str]:
    """Return the characters of all normal and unused pieces of a model."""
    kinds = (NORMAL, UNUSED)
    return {one for entry in model.pieces if entry.type in kinds for one in entry.piece}


def _settings_of(
    model: ModelProto, user_settings: Settings, names: Collection[str] | Mapping[str, object]
) -> Settings:
    """Return settings that make training read a text as it did when the model was trained."""
    settings = copy(user_settings)
    spec = deepcopy(model.trainer_spec)
    # These fields only affected the training of the original model.
    own = (*_FIELDS_OF_TEXT, "seed_sentencepieces_file", "self_test_sample_size", "use_all_vocab")
    for name in own:
        spec.ClearField(name)
    for option in OPTIONS.values():
        if option.stored_in != TRAINER or option.least is None:
            continue
        most = math.inf if option.most is None else option.most
        if not option.least <= getattr(spec, option.stored_as) <= most:
            spec.ClearField(option.stored_as)
    # The coverage alone selects the characters: they do not compete with other pieces.
    spec.auto_character_coverage = False
    text_fields = {
        field.name: value
        for field, value in user_settings.trainer.ListFields()
        if field.name in _FIELDS_OF_TEXT
    }
    spec.MergeFrom(TrainerSpec(**text_fields))
    for name in ("max_sentence_length", "character_coverage"):
        if name in names:
            setattr(spec, name, getattr(user_settings.trainer, name))
    marks = {UNKNOWN_MARK, " ", "\0", chr(user_settings.release.boundary)}
    known = characters_of(model) - marks | set(spec.required_chars)
    spec.required_chars = "".join(sorted({*known, SPACE_MARK}))
    settings.trainer = spec
    settings.normalizer = deepcopy(model.normalizer_spec)
    # The file of rules is not read again: the model contains its rules in compiled form.
    settings.normalizer.normalization_rule_tsv = ""
    check_pretokenization(settings)
    return settings


def _covered(
    alphabet: Iterable[tuple[int, int]], coverage: float, required: str, boundary: int
) -> set[int]:
    """Return the code points of the characters that the coverage of a text requires."""
    counts = {character: count for character, count in alphabet if count > 0}
    chosen, _ = choose_alphabet(counts, coverage, required, boundary=boundary)
    return {character for character, _ in chosen}
