"""One training run, from settings to files: the whole pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from spmcompat.errors import OutOfMemoryError, is_out_of_memory
from spmcompat.model.meta_pieces import MetaPiece
from spmcompat.model.sentencepiece_model_pb2 import TrainerSpec
from spmcompat.model.vocabulary import (
    append_space,
    assemble,
    breaking_pieces,
    fill_ids,
    reachable_ids,
)
from spmcompat.model.writers import (
    Trained,
    Writers,
    check_writers,
    save,
    write_all,
    writers_of,
)
from spmcompat.options.checks import check_alphabet, verify
from spmcompat.options.planning import plan_of
from spmcompat.options.settings import Settings, runs_of, with_charsmaps
from spmcompat.plan import Plan
from spmcompat.runtime.inputs import open_file
from spmcompat.runtime.outputs import Outputs, outputs
from spmcompat.runtime.progress import Report
from spmcompat.runtime.runs import Runs
from spmcompat.runtime.threads import prepare_thread
from spmcompat.runtime.workers import Workers
from spmcompat.segments.corpus import Corpus, SegmentCounts
from spmcompat.segments.cutting import (
    alphabet_of_counts,
    counts_and_alphabet,
    cut_corpus,
    cut_for_bpe,
)
from spmcompat.text.sources import SelfTestSource, Source, open_source, sample_sentences

if TYPE_CHECKING:
    from spmcompat.dump import Dump
    from spmcompat.runtime.rounds import OnRound, Step
    from spmcompat.stored_counts.table import CountTable
    from spmcompat.text.arrow_producers import Sentences
    from spmcompat.unigram.options import UnigramOptions


def run(
    settings: Settings,
    sentences: Sentences | None = None,
    writer: Writers | None = None,
    report: Report | None = None,
) -> None:
    """Train a model, or one for each vocabulary size, and write the models.

    Parameters
    ----------
    settings : Settings
        The settings of the training run.
    sentences : iterable of str or bytes, or Arrow data, optional
        The text, unless it is read from files.
    writer : object with ``write``, optional
        Receives the bytes of the model if the model is not written to files. If there are several
        sizes: a list with one writer for each size, or a function that takes a size and returns its
        writer.
    report : Report, optional
        Receives log lines and progress; by default standard error or the program's logging.

    Raises
    ------
    TrainingError
        If training cannot continue. In this case nothing is written.
    """
    report = report or Report(settings.min_log_level)
    try:
        prepare_thread()
        train(settings, sentences, writer, report)
        return report.costs()
    except OutOfMemoryError:
        raise  # it already says where and why
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        reason = str(error)
    # This error is raised after the handler. Inside the handler, the caught error would become the
    # context of this error, and would keep the objects of the failed run in memory.
    raise OutOfMemoryError(report.current, reason)


def train(
    settings: Settings,
    sentences: Sentences | None,
    writer: Writers | None,
    report: Report,
) -> None:
    """Train a model and write it as `run` does, but let a MemoryError pass unchanged."""
    settings = with_charsmaps(settings)
    check_writers(writer, settings.sizes)
    meta = verify(settings, has_sentences=sentences is not None, has_writer=writer is not None)
    runs = runs_of(settings)
    for note in settings.notes:
        report.warning(note)

    if settings.recipe:
        report.info(settings.recipe)
    workers = Workers(settings.workers)
    with outputs("model_prefix") as files:
        dump = open_dump(settings, files)
        on_round = listener(settings, dump)
        models = make_models(runs, meta, sentences, workers, report, on_round)
        deliver(models, settings.sizes, writer, files, report)
    for _, vocabulary, spec in models if writer is None else ():
        prefix = spec.model_prefix
        report.info(f"Saved {prefix}.model and {prefix}.vocab: {len(vocabulary)} pieces")
    if dump is not None:
        report.info(f"Saved the dump of {dump.steps} steps: {settings.extensions.dump}")


def open_dump(settings: Settings, files: Outputs) -> Dump | None:
    """Return the object that writes a table for each step, or None without the option ``dump``."""
    if not settings.extensions.dump:
        return None
    from spmcompat.dump import Dump  # noqa: PLC0415

    return Dump(settings.extensions.dump, settings.extensions.dump_format, files)


def listener(settings: Settings, dump: Dump | None) -> OnRound | None:
    """Return a function that passes each step to `dump` and to the option `on_round`.

    The result is None if neither is given.
    """
    listeners: list[OnRound] = [] if dump is None else [dump]
    if settings.on_round is not None:
        listeners.append(_naming_on_round(settings.on_round))
    if not listeners:
        return None

    def call_all(done: Step) -> None:
        for on_round in listeners:
            on_round(done)

    return call_all


def _naming_on_round(on_round: OnRound) -> OnRound:
    """Return the user's function. If it needs too much memory, the error names the function."""

    def call(done: Step) -> None:
        try:
            on_round(done)
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            remedy = "This is the function given as on_round: let it keep less."
            raise OutOfMemoryError("on_round", str(error), remedy) from error

    return call


def make_models(
    runs: Runs[Settings],
    meta: dict[int, MetaPiece],
    sentences: Sentences | None,
    workers: Workers,
    report: Report,
    on_round: OnRound | None,
) -> list[Trained]:
    """Learn the pieces of each model, and return the models."""
    plan = plan_of(runs.common, [piece.piece for piece in meta.values()])
    learned, test_lines = learn(plan, sentences, runs, len(meta), workers, report, on_round)
    report.step("Writing")
    models = []
    for run in runs.alone():
        pieces = learned.pop(0)
        with run.naming_errors():
            models.append(make_model(pieces, run.common, meta, test_lines))
    return models


def make_model(
    pieces: list[tuple[bytes, float]],
    settings: Settings,
    meta: dict[int, MetaPiece],
    test_lines: Sequence[bytes],
) -> Trained:
    """Assign an id to each piece, and return the model."""
    meta = reachable_ids(meta, len(pieces), settings.trainer)
    vocabulary = fill_ids(pieces, meta, settings.trainer)
    if settings.extensions.space_pieces == "dropped":
        meta = append_space(vocabulary, meta)
    specs = settings.trainer, settings.normalizer, settings.denormalizer
    model = assemble(vocabulary, meta, *specs)
    if test_lines:
        from spmcompat.old_releases.self_test import self_tests  # noqa: PLC0415

        model.self_test_data.CopyFrom(self_tests(model, test_lines, settings.release))
    return Trained(model.SerializeToString(), vocabulary, settings.trainer)


def learn(
    plan: Plan,
    sentences: Sentences | None,
    runs: Runs[Settings],
    meta_pieces: int,
    workers: Workers,
    report: Report,
    on_round: OnRound | None,
) -> tuple[list[list[tuple[bytes, float]]], Sequence[bytes]]:
    """Read the text and learn the pieces of each run.

    Returns the pieces of each run, and the lines that the models store as self-test samples.
    """
    settings = runs.common
    source: Source | None = None
    tests = None
    if settings.counts is None:
        lines = open_source(plan.text, sentences, report, settings.column)
        tests = SelfTestSource(lines, plan.text) if plan.text.self_test_sample_size > 0 else None
        read = lines if tests is None else tests
        source = sample_sentences(read, plan.text, report)
        counts, alphabet = counts_and_alphabet(plan, source, workers, report)
    else:
        from spmcompat.stored_counts.loading import load  # noqa: PLC0415

        counts = load(plan, settings.counts, workers, report)
        alphabet = alphabet_of_counts(counts, plan, workers, report)
    for run in runs.alone():
        with run.naming_errors():
            check_alphabet(run.common, alphabet, meta_pieces)
    kind = settings.trainer.model_type
    if kind == TrainerSpec.CHAR:
        models = [learn_characters(alphabet, one, meta_pieces) for one in runs]
    elif settings.languages is not None:
        del counts
        models = learn_parity_aware(alphabet, plan, runs, meta_pieces, workers, report)
    elif kind == TrainerSpec.BPE:
        segments = cut_for_bpe(counts, alphabet, plan, workers, report)
        del counts, source
        models = learn_bpe(segments, alphabet, runs, meta_pieces, workers, report, on_round)
    else:
        corpus = cut_corpus(counts, alphabet, plan, source, workers, report)
        del counts, source
        if kind == TrainerSpec.WORD:
            models = [learn_words(corpus, one, meta_pieces) for one in runs]
        else:
            models = learn_unigram(corpus, runs, meta_pieces, workers, report, on_round)
    return models, [] if tests is None else list(tests.sample)


# Each function below imports only its own trainer: importing all trainers takes as long as training
# on a small text.


def learn_characters(
    alphabet: list[tuple[int, int]], settings: Settings, meta_pieces: int
) -> list[tuple[bytes, float]]:
    """Return the most frequent characters."""
    from spmcompat.simple import char  # noqa: PLC0415

    limit = size_limit(settings, meta_pieces)
    return char.train(alphabet, limit, needs_text=settings.release.needs_text)


def learn_words(corpus: Corpus, settings: Settings, meta_pieces: int) -> list[tuple[bytes, float]]:
    """Return the most frequent pretokens."""
    from spmcompat.simple import word  # noqa: PLC0415

    limit = size_limit(settings, meta_pieces)
    return word.train(corpus.counted_pretokens(), corpus.total_count, limit)


def size_limit(settings: Settings, meta_pieces: int) -> int | None:
    """Return the maximum number of pieces of a char or word model; None if it has no maximum."""
    spec = settings.trainer
    return None if spec.use_all_vocab else spec.vocab_size - meta_pieces


def learn_bpe(
    segments: SegmentCounts,
    alphabet: list[tuple[int, int]],
    runs: Runs[Settings],
    meta_pieces: int,
    workers: Workers,
    report: Report,
    on_round: OnRound | None,
) -> list[list[tuple[bytes, float]]]:
    """Learn the pieces of each run with BPE."""
    from spmcompat.bpe import trainer  # noqa: PLC0415

    sizes = [settings.trainer.vocab_size - meta_pieces for settings in runs]
    chooses = runs.common.trainer.auto_character_coverage
    options = trainer.BpeOptions(sizes, chooses, runs.common.release)
    return trainer.train(alphabet, segments, options, workers, report, on_round)


def learn_parity_aware(
    alphabet: list[tuple[int, int]],
    plan: Plan,
    runs: Runs[Settings],
    meta_pieces: int,
    workers: Workers,
    report: Report,
) -> list[list[tuple[bytes, float]]]:
    """Learn the pieces of each run with parity-aware BPE."""
    from fractions import Fraction  # noqa: PLC0415

    from spmcompat.bpe import parity_aware  # noqa: PLC0415
    from spmcompat.stored_counts.loading import load  # noqa: PLC0415

    def segments_of(table: CountTable) -> tuple[SegmentCounts, int]:
        """Return the segments of a table, and the number of characters in it."""
        counts = load(plan, table, workers, report)
        characters = sum(counts.characters(workers).values())
        return cut_for_bpe(counts, alphabet, plan, workers, report), characters

    tables = runs.common.languages
    assert tables is not None
    languages = []
    for number, (table, ratio) in enumerate(zip(tables.training, tables.ratios, strict=True)):
        training, characters = segments_of(table)
        development, unit = training, characters
        if tables.development:
            development, characters = segments_of(tables.development[number])
            unit = tables.development[number].sentences
        texts = training, development, characters
        languages.append(parity_aware.Language(table.name, *texts, ratio, max(unit, 1)))
    sizes = [settings.trainer.vocab_size - meta_pieces for settings in runs]
    given = runs.common.extensions
    options = parity_aware.ParityOptions(
        sizes,
        given.language_first_merges,
        given.language_window,
        Fraction(str(given.language_alpha)),
    )
    return parity_aware.train(alphabet, languages, options, workers, report)


def learn_unigram(
    corpus: Corpus,
    runs: Runs[Settings],
    meta_pieces: int,
    workers: Workers,
    report: Report,
    on_round: OnRound | None,
) -> list[list[tuple[bytes, float]]]:
    """Learn the pieces of each run by EM and pruning."""
    from spmcompat.unigram import trainer  # noqa: PLC0415

    options = [unigram_options(settings, meta_pieces) for settings in runs]
    path = options[0].seed_sentencepieces_file
    seed_lines = _read_lines(path) if path else ()
    return trainer.train_sizes(corpus, options, workers, report, seed_lines, on_round)


def unigram_options(settings: Settings, meta_pieces: int) -> UnigramOptions:
    """Return the options of the Unigram trainer."""
    from spmcompat.unigram.options import UnigramOptions, unigram_extensions  # noqa: PLC0415

    spec = settings.trainer
    return UnigramOptions(
        vocab_size=spec.vocab_size,
        final_size=spec.vocab_size - meta_pieces,
        seed_sentencepiece_size=spec.seed_sentencepiece_size,
        seed_sentencepieces_file=spec.seed_sentencepieces_file,
        shrinking_factor=spec.shrinking_factor,
        num_sub_iterations=spec.num_sub_iterations,
        partial_sums=spec.num_threads,
        auto_character_coverage=spec.auto_character_coverage,
        use_sparse_pruning=settings.use_sparse_pruning,
        post_l1_debias=settings.post_l1_debias,
        seed_piece_length_power=settings.seed_piece_length_power,
        min_freq_alpha=settings.min_freq_alpha,
        release=settings.release,
        **unigram_extensions(vars(settings.extensions)),
    )


def _read_lines(path: str) -> Iterator[bytes]:
    """Yield the lines of a seed file. The file is opened when the first line is needed."""
    with open_file(path, "Check seed_sentencepieces_file") as file:
        yield from file


def deliver(
    models: Sequence[Trained],
    sizes: Sequence[int],
    writer: Writers | None,
    files: Outputs,
    report: Report,
) -> None:
    """Give each model to its writer, or write the files of all models."""
    if writer is not None:
        for one, trained in zip(writers_of(writer, sizes), models, strict=True):
            write_all(one, trained.model)
        return
    for _, vocabulary, spec in models:
        for piece in breaking_pieces(vocabulary):
            report.warning(
                f"The piece [{piece.decode()}] contains escaped characters that break the format "
                f"of {spec.model_prefix}.vocab"
            )
    save(models, files)
