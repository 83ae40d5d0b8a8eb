"""Turns settings into a job, once: of training or of counting. Nothing below reads settings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

from spmcompat.errors import naming_stage
from spmcompat.model.meta_pieces import MetaPiece
from spmcompat.model.sentencepiece_model_pb2 import NormalizerSpec, TrainerSpec
from spmcompat.model.writers import Writers, check_writers
from spmcompat.options.checks import check_settings
from spmcompat.options.planning import PlanOptions, make_plan
from spmcompat.options.settings import Settings, runs_of, value_of, with_charsmaps
from spmcompat.options.table import OPTIONS
from spmcompat.plan import Plan, TextPlan
from spmcompat.runtime.runs import Runs
from spmcompat.runtime.threads import prepare_thread
from spmcompat.text.paths import expand

if TYPE_CHECKING:
    from spmcompat.bpe.parity_aware import ParityOptions
    from spmcompat.bpe.trainer import BpeOptions
    from spmcompat.options.languages import LanguageTables
    from spmcompat.runtime.rounds import OnRound
    from spmcompat.stored_counts.origin import Origin
    from spmcompat.stored_counts.table import CountTable
    from spmcompat.text.arrow_producers import Sentences
    from spmcompat.unigram.options import UnigramOptions


class Input(NamedTuple):
    """What to train from, unless the plan names files.

    Attributes
    ----------
    sentences : iterable of str or bytes, or Arrow data, optional
        The text.
    column : str, optional
        The column of Arrow data that contains the sentences.
    counts : CountTable, optional
        The counts to train from instead of a text.
    languages : LanguageTables, optional
        The counts of each language for parity-aware BPE; `counts` are their sum.
    """

    sentences: Sentences | None
    column: str | None
    counts: CountTable | None
    languages: LanguageTables | None


class TrainerOptions(NamedTuple):
    """The options of the trainer. The fields that belong to other trainers are None or empty.

    Attributes
    ----------
    unigram : sequence of UnigramOptions, optional
        The options of each run.
    bpe : BpeOptions, optional
    parity_aware : ParityOptions, optional
    limits : sequence of (int or None)
        For word and char models, the maximum number of pieces of each run. None is no maximum.
    """

    unigram: Sequence[UnigramOptions] | None = None
    bpe: BpeOptions | None = None
    parity_aware: ParityOptions | None = None
    limits: Sequence[int | None] = ()


class Stored(NamedTuple):
    """What the models store besides their pieces.

    Attributes
    ----------
    meta_pieces : dict of int to MetaPiece
        Meta pieces by id.
    drops_space : bool
        Whether U+2581 is a meta piece, too, which gets the last id of the model.
    normalizer, denormalizer : NormalizerSpec
        The specs, charsmaps included. The spec of the trainer is different for each run.
    """

    meta_pieces: dict[int, MetaPiece]
    drops_space: bool
    normalizer: NormalizerSpec
    denormalizer: NormalizerSpec


class Output(NamedTuple):
    """What receives the results.

    Attributes
    ----------
    writer : object with ``write``, or several, optional
        Receives the models, unless they are written to files.
    sizes : tuple of int
        The vocabulary size of each model; empty for a single model.
    dump, dump_format : str
        The folder for a table of each step (empty for none), and the format of the tables.
    on_round : callable, optional
        A function that is called with a ``Step`` after each step.
    """

    writer: Writers | None
    sizes: tuple[int, ...]
    dump: str
    dump_format: str
    on_round: OnRound | None


class Job(NamedTuple):
    """A training: everything that follows from the options before the text is read.

    Attributes
    ----------
    plan : Plan
        How to read, count and cut the text.
    input : Input
        The text, unless it is read from files.
    runs : Runs of TrainerSpec
        The runs, one for each vocabulary size, as the specs that their models store.
    options : TrainerOptions
        The options of the trainer.
    stored : Stored
        What the models store besides their pieces.
    output : Output
        What receives the results.
    workers : int
        The number of worker threads.
    min_log_level : int
        0 shows all messages, 1 only warnings and errors, 2 only errors.
    progress : str
        How to show the progress: ``bar`` or ``json``.
    warnings : sequence of str
        Warnings about the options.
    recipe : str
        A line that states which options the recipe has set; empty without a recipe.
    """

    plan: Plan
    input: Input
    runs: Runs[TrainerSpec]
    options: TrainerOptions
    stored: Stored
    output: Output
    workers: int
    min_log_level: int
    progress: str
    warnings: Sequence[str]
    recipe: str


def make_job(
    settings: Settings, sentences: Sentences | None = None, writer: Writers | None = None
) -> Job:
    """Check the options of a training, and return the job.

    Parameters
    ----------
    settings : Settings
        The settings.
    sentences : iterable of str or bytes, or Arrow data, optional
        The text, unless it is read from files.
    writer : object with ``write``, optional
        Receives the bytes of the model if the model is not written to files. If there are several
        sizes: a list with one writer for each size, or a function that takes a size and returns its
        writer.

    Raises
    ------
    TrainingError
        If it is not possible to train with the options.
    """
    return naming_stage(lambda: _make_job(settings, sentences, writer), lambda: "Starting")


def _make_job(settings: Settings, sentences: Sentences | None, writer: Writers | None) -> Job:
    prepare_thread()
    settings = with_charsmaps(settings)
    check_writers(writer, settings.sizes)
    meta = check_settings(
        settings, has_sentences=sentences is not None, has_writer=writer is not None
    )
    return job_of(settings, meta, sentences, writer)


def job_of(
    settings: Settings,
    meta: dict[int, MetaPiece],
    sentences: Sentences | None,
    writer: Writers | None = None,
) -> Job:
    """Return the job of settings that are checked, and whose charsmaps are compiled.

    Parameters
    ----------
    settings, sentences, writer
        As for `make_job`.
    meta : dict of int to MetaPiece
        The meta pieces by id.
    """
    runs = runs_of(settings)
    own = settings.own
    return Job(
        plan_of(settings, [piece.piece for piece in meta.values()]),
        Input(sentences, settings.column, settings.counts, settings.languages),
        Runs([run.trainer for run in runs]),
        _trainer_options(runs, len(meta)),
        Stored(meta, own.space_pieces == "dropped", settings.normalizer, settings.denormalizer),
        Output(writer, settings.sizes, own.dump, own.dump_format, settings.on_round),
        own.workers,
        own.min_log_level,
        own.progress,
        settings.notes,
        settings.recipe,
    )


def plan_of(settings: Settings, meta_pieces: Sequence[str]) -> Plan:
    """Return the plan of a training."""
    spec = settings.trainer
    text = _values(settings, TextPlan._fields) | {
        "input": tuple(spec.input) if settings.counts is not None else expand(spec.input),
        "input_format": spec.input_format or settings.input_format,
        "release": settings.release,
    }
    options = _values(settings, PlanOptions._fields) | {
        "text": TextPlan(**text),
        "character_coverage": math.inf if spec.use_all_vocab else spec.character_coverage,
        "max_piece_length": spec.max_sentencepiece_length,
    }
    given = PlanOptions(**options)
    return make_plan(given, settings.normalizer.precompiled_charsmap, meta_pieces)


def _values(settings: Settings, names: Iterable[str]) -> dict[str, Any]:
    """Return the values of the options among the names."""
    return {name: value_of(settings, name) for name in names if name in OPTIONS}


def _trainer_options(runs: Runs[Settings], meta_pieces: int) -> TrainerOptions:
    """Return the options of the trainer. Only its own module is imported, because of the time."""
    settings = runs.common
    kind = settings.trainer.model_type
    if kind == TrainerSpec.UNIGRAM:
        return TrainerOptions(unigram=[unigram_options(run, meta_pieces) for run in runs])
    sizes = [run.vocab_size - meta_pieces for run in runs]
    if kind != TrainerSpec.BPE:
        has_limit = not settings.trainer.use_all_vocab
        return TrainerOptions(limits=[size if has_limit else None for size in sizes])
    if settings.languages is not None:
        return TrainerOptions(parity_aware=_parity_options(settings, sizes))
    from spmcompat.bpe.trainer import BpeOptions

    chooses = settings.trainer.auto_character_coverage
    return TrainerOptions(bpe=BpeOptions(sizes, chooses, settings.release))


def _parity_options(settings: Settings, sizes: Sequence[int]) -> ParityOptions:
    from fractions import Fraction

    from spmcompat.bpe.parity_aware import ParityOptions

    given = settings.own
    return ParityOptions(
        sizes,
        given.language_first_merges,
        given.language_window,
        Fraction(str(given.language_alpha)),
    )


def unigram_options(settings: Settings, meta_pieces: int) -> UnigramOptions:
    """Return the options of the Unigram trainer."""
    from spmcompat.unigram.options import UnigramOptions

    options = _values(settings, UnigramOptions._fields) | {
        "final_size": settings.vocab_size - meta_pieces,
        "partial_sums": settings.trainer.num_threads,
        "release": settings.release,
    }
    return UnigramOptions(**options)


class CountingJob(NamedTuple):
    """How to count a text: everything that follows from the options before it is read.

    Attributes
    ----------
    plan : Plan
        How to read and count the text.
    origin : Origin
        The origin of the counts, without facts about the text.
    column : str, optional
        The column of Arrow data that contains the sentences.
    workers : int
        The number of worker threads.
    min_log_level : int
        0 shows all messages, 1 only warnings and errors, 2 only errors.
    warnings : sequence of str
        Warnings about the options.
    """

    plan: Plan
    origin: Origin
    column: str | None
    workers: int
    min_log_level: int
    warnings: Sequence[str]


def counting_job(
    options: Mapping[str, object], settings: Settings, has_sentences: bool
) -> CountingJob:
    """Check the options of counting, and return the job.

    Parameters
    ----------
    options : mapping
        The options that the user set, by name.
    settings : Settings
        The settings made from these options.
    has_sentences : bool
        Whether sentences come from an iterator instead of files.

    Raises
    ------
    TrainingError
        If it is not possible to count with the options.
    """
    from spmcompat.options.from_counts import counting_options
    from spmcompat.stored_counts.arrow import require_pyarrow
    from spmcompat.stored_counts.counting import origin_of

    settings = _with_rules(settings)
    require_pyarrow()
    complete = with_charsmaps(settings)
    meta = check_settings(complete, has_sentences=has_sentences, has_writer=True)
    plan = plan_of(complete, [piece.piece for piece in meta.values()]).for_table()
    origin = origin_of(plan, counting_options(options, settings), settings.rules)
    return CountingJob(
        plan,
        origin,
        settings.column,
        settings.own.workers,
        settings.own.min_log_level,
        settings.notes,
    )


def _with_rules(settings: Settings) -> Settings:
    """Return the settings with the rules from the rules file, because counts store these rules.

    Raises
    ------
    TrainingError
        If the file cannot be read.
    """
    path = settings.normalizer.normalization_rule_tsv
    if not path or settings.normalizer.precompiled_charsmap:
        return settings
    from spmcompat.normalization.charsmaps import load_rules

    complete = copy(settings)
    complete.rules = load_rules(path, settings.release.code_points)
    return complete
