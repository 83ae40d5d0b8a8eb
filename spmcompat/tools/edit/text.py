"""Reads a text as a trained model does, according to the specs stored in the model."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from copy import copy, deepcopy
from typing import TYPE_CHECKING, NamedTuple

from spmcompat.counting.counts import Counts
from spmcompat.errors import BadValueError
from spmcompat.model.pieces import NORMAL, UNUSED
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.options.checks import check_pretokenization
from spmcompat.options.option import TRAINER
from spmcompat.options.planning import plan_of
from spmcompat.options.settings import Settings
from spmcompat.options.table import OPTIONS
from spmcompat.plan import Plan
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.segments.coverage import choose_alphabet
from spmcompat.segments.cutting import alphabet_of_counts, counts_and_alphabet
from spmcompat.text.sources import Source, open_source, sample_sentences
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
)
"""The training options that a caller may set; the model determines all other options."""

_FIELDS_OF_TEXT = ("input", "input_format", "input_sentence_size", "shuffle_input_sentence")


class ReadText(NamedTuple):
    """The counts of a text, and what a trainer needs in addition to them.

    Attributes
    ----------
    counts : Counts
        The counts that training starts from.
    alphabet : list of (int, int)
        The characters of the model, and the characters that the coverage of the text requires, with
        their counts in the text.
    plan : Plan
        How the text was read.
    source : Source or None
        The text; None if stored counts were given instead of a text.
    """

    counts: Counts
    alphabet: list[tuple[int, int]]
    plan: Plan
    source: Source | None


def check_model(model: ModelProto, what: str) -> None:
    """Raise if training code cannot extend or trim the model.

    Raises
    ------
    BadValueError
        If it is a word or char model, or if it does not replace spaces with U+2581.
    """
    kind = model.trainer_spec.model_type
    if kind not in (TrainerSpec.UNIGRAM, TrainerSpec.BPE):
        name = TrainerSpec.ModelType.Name(kind).lower()
        raise BadValueError(
            f"{what} is for unigram and bpe models, but this is a {name} model. Its pieces are the "
            "most frequent ones of a text: train it again."
        )
    if not model.normalizer_spec.escape_whitespaces:
        raise BadValueError(
            f"{what} cuts texts at U+2581, but in this model spaces stay spaces: its "
            "escape_whitespaces is false. Add or remove pieces with spmcompat edit."
        )


def settings_of(model: ModelProto, user_settings: Settings, names: Collection[str]) -> Settings:
    """Return settings that make training read a text as it did when the model was trained.

    Training need not be possible with the options that the model stores. Where a number is out of
    the range of its option, the default is used: the model was not trained with this number.

    Parameters
    ----------
    model : ModelProto
        The model. Its specs decide how text is normalized and cut, and how long a piece may be.
    user_settings : Settings
        The settings of the user. Only the input, the workers and the messages are taken from them.
    names : collection of str
        The names of the options that the user set. If they include `max_sentence_length` or
        `character_coverage`, that option replaces the one of the model.

    Raises
    ------
    TrainingError
        If the user's pretokenizer is not possible with an option of the model.
    """
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


def characters_of(model: ModelProto) -> set[str]:
    """Return the characters of all normal and unused pieces of the model."""
    kinds = (NORMAL, UNUSED)
    return {one for entry in model.pieces if entry.type in kinds for one in entry.piece}


def read(
    settings: Settings,
    model: ModelProto,
    sentences: Sentences | None,
    workers: Workers,
    report: Report,
) -> ReadText:
    """Read and count the text, and return the counts.

    Raises
    ------
    TrainingError
        If the text cannot be read.
    """
    symbols = [one.piece for one in model.pieces if one.type not in (NORMAL, UNUSED)]
    plan = plan_of(settings, symbols)
    # Count all characters. The coverage is not applied until later, because it must not drop
    # characters of the model.
    coverage = plan.coverage
    plan = plan._replace(coverage=coverage._replace(character_coverage=math.inf))
    source = None
    if settings.counts is None:
        lines = open_source(plan.text, sentences, report, settings.column)
        source = sample_sentences(lines, plan.text, report)
        counts, alphabet = counts_and_alphabet(plan, source, workers, report)
    else:
        from spmcompat.stored_counts.loading import load  # noqa: PLC0415

        counts = load(plan, settings.counts, workers, report)
        alphabet = alphabet_of_counts(counts, plan, workers, report)
    known = covered(alphabet, coverage.character_coverage, coverage.required_chars, plan.boundary)
    known.update(map(ord, coverage.required_chars))
    alphabet = [(character, count) for character, count in alphabet if character in known]
    return ReadText(counts, alphabet, plan, source)


def covered(
    alphabet: Iterable[tuple[int, int]], coverage: float, required: str, boundary: int
) -> set[int]:
    """Return the code points of the characters that the coverage of a text requires."""
    counts = {character: count for character, count in alphabet if count > 0}
    chosen, _ = choose_alphabet(counts, coverage, required, boundary=boundary)
    return {character for character, _ in chosen}
