"""A text that a user gives to a tool: the options for it become a job for reading it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from copy import copy, deepcopy
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple, TextIO

from spmcompat.errors import ConflictError
from spmcompat.model.meta_pieces import MetaPiece
from spmcompat.model.pieces import characters_of, is_learned
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.options.arguments import check_sentences, make_lists
from spmcompat.options.checks import check_pretokenization, check_settings, input_files
from spmcompat.options.from_flags import from_command_line
from spmcompat.options.from_keywords import from_values
from spmcompat.options.job import CountingJob, Job, counting_job, job_of, make_job, plan_of
from spmcompat.options.option import TRAINER
from spmcompat.options.settings import Settings
from spmcompat.options.table import OPTIONS
from spmcompat.runtime.context import Context
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.text.sources import WordText
from spmcompat.unicode.marks import SPACE_MARK, UNKNOWN_MARK

if TYPE_CHECKING:
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
    "progress",
)
"""The training options that a user may set for a text; the model determines all other options."""

WORD_OPTIONS = (
    "input",
    "input_format",
    "input_column",
    "split_lines",
    "skip_bad_records",
    "strict",
    "input_sentence_size",
    "shuffle_input_sentence",
    "sampling_seed",
    "workers",
    "minloglevel",
    "progress",
    "quiet",
)
"""The training options that a user may set for a text whose words are counted."""

_FIELDS_OF_TEXT = ("input", "input_format", "input_sentence_size", "shuffle_input_sentence")


class GivenText(NamedTuple):
    """A text that a user gives to a tool, with the options for reading it.

    Attributes
    ----------
    settings : Settings
        The settings made from the options.
    options : mapping
        The options that the user set, by name.
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
    def workers(self) -> int:
        """The number of worker threads."""
        return int(self.settings.own.workers)

    def report(self, stream: TextIO | None) -> Report:
        """Return a report that shows what the user chose on a stream, as `Report` takes it."""
        return Report(self.settings.own.min_log_level, stream, self.settings.own.progress)

    def check(self) -> None:
        """Raise if the text cannot be read, or an option is not possible.

        Raises
        ------
        TrainingError
            If there is no text or it cannot be read, or options contradict each other.
        """
        check_settings(self.settings, has_sentences=self.sentences is not None, has_writer=True)

    def context(self, report: Report) -> Context:
        """Return a context with the report, and as many worker threads as the user chose."""
        return Context(Workers(self.settings.own.workers), report)

    def job(self) -> Job:
        """Return the job of training with the options. The errors are those of `make_job`."""
        return make_job(self.settings, self.sentences, BytesIO())

    def job_like(self, model: ModelProto) -> Job:
        """Return the job of reading the text as training did when a model was trained.

        The specs of the model decide how text is normalized and cut, and how long a piece may be;
        only the input, the workers and the messages are taken from the options. Training need not
        be possible with the options that the model stores. Where a number is out of the range of
        its option, the default is used: the model was not trained with this number. If the user set
        `max_sentence_length` or `character_coverage`, that option replaces the one of the model.

        Raises
        ------
        TrainingError
            If the user's pretokenizer is not possible with an option of the model.
        """
        settings = _settings_like(model, self.settings, self.options)
        meta = {
            piece_id: MetaPiece(piece.piece, piece.type)
            for piece_id, piece in enumerate(model.pieces)
            if not is_learned(piece)
        }
        return job_of(settings, meta, self.sentences)

    def words(self) -> WordText:
        """Return the text for counting its words, whole and with the ends of its lines.

        Raises
        ------
        TrainingError
            If the text cannot be read, or an option is not possible.
        """
        self.check()
        plan = plan_of(self.settings, ()).text._replace(long_sentences="keep")
        if plan.tsv:
            raise ConflictError("input_format=tsv cannot be used here: give each text as it is.")
        return WordText(plan, self.sentences, self.settings.column)

    def counting_job(self) -> CountingJob:
        """Return the job of counting the text. The errors are those of `counting_job`."""
        return counting_job(self.options, self.settings, self.sentences is not None)


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


def text_of_flags(flags: Mapping[str, str]) -> GivenText:
    """Return the text that flags of ``spm_train`` name.

    The errors are those of `from_command_line`.
    """
    return GivenText(from_command_line(flags), flags)


def _settings_like(model: ModelProto, user_settings: Settings, names: Collection[str]) -> Settings:
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
