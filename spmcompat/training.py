"""One training, from a job to files: the whole pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from spmcompat.counting.counts import Counts
from spmcompat.errors import is_out_of_memory, naming_stage, out_of_memory
from spmcompat.model.sentencepiece_model_pb2 import TrainerSpec
from spmcompat.model.vocabulary import (
    append_space,
    assemble,
    breaking_pieces,
    fill_ids,
    reachable_ids,
)
from spmcompat.model.writers import Trained, save, write_all, writers_of
from spmcompat.options.checks import check_alphabet
from spmcompat.options.job import Job, Output, Stored
from spmcompat.runtime.context import Context
from spmcompat.runtime.inputs import open_file
from spmcompat.runtime.outputs import Outputs, outputs
from spmcompat.runtime.progress import Report
from spmcompat.runtime.threads import prepare_thread
from spmcompat.runtime.workers import Workers
from spmcompat.segments.corpus import SegmentCounts
from spmcompat.segments.cutting import (
    alphabet_of_counts,
    counts_and_alphabet,
    cut_corpus,
    cut_for_bpe,
)
from spmcompat.text.sources import SelfTestSource, Source, open_source, sample_sentences

if TYPE_CHECKING:
    from spmcompat.bpe.parity_aware import ParityOptions
    from spmcompat.dump import Dump
    from spmcompat.releases import Release
    from spmcompat.runtime.rounds import OnRound, Step
    from spmcompat.stored_counts.table import CountTable


def run(job: Job, report: Report | None = None) -> None:
    """Train a model, or one for each vocabulary size, and write the models.

    Parameters
    ----------
    job : Job
        What to train.
    report : Report, optional
        Receives log lines and progress; by default standard error or the program's logging.

    Raises
    ------
    TrainingError
        If training cannot continue. In this case nothing is written.
    """
    own = report or Report(job.min_log_level, progress=job.progress)
    naming_stage(lambda: train(job, own), lambda: own.current)


def train(job: Job, report: Report) -> None:
    """Train a model and write it as `run` does, but let a MemoryError pass unchanged."""
    prepare_thread()
    for warning in job.warnings:
        report.warning(warning)
    if job.recipe:
        report.info(job.recipe)
    with outputs("model_prefix") as files:
        dump = open_dump(job.output, files)
        context = Context(Workers(job.workers), report, listener(job.output, dump))
        learned, test_lines = learn(job, context)
        report.step("Writing")
        models = make_models(job, learned, test_lines)
        deliver(models, job.output, files, report)
    for _, vocabulary, spec in models if job.output.writer is None else ():
        prefix = spec.model_prefix
        report.info(f"Saved {prefix}.model and {prefix}.vocab: {len(vocabulary)} pieces")
    if dump is not None:
        report.info(f"Saved the dump of {dump.steps} steps: {job.output.dump}")
    report.costs()


def learn(job: Job, context: Context) -> tuple[list[list[tuple[bytes, float]]], Sequence[bytes]]:
    """Read the text and learn the pieces of each run.

    Only the module of the trainer itself is imported: importing all trainers takes as long as
    training on a small text.

    Returns the pieces of each run, and the lines that the models store as self-test samples.
    """
    plan, options = job.plan, job.options
    counts, alphabet, source, test_lines = read(job, context)
    for run in job.runs.alone():
        with run.naming_errors():
            check_alphabet(run.common, alphabet, len(job.stored.meta_pieces), plan.text.release)
    if options.parity_aware is not None:
        del counts
        models = learn_parity_aware(job, options.parity_aware, alphabet, context)
    elif options.bpe is not None:
        from spmcompat.bpe import trainer as bpe

        segments = cut_for_bpe(counts, alphabet, plan, context)
        del counts, source
        models = bpe.train(alphabet, segments, options.bpe, context)
    elif job.runs.common.model_type == TrainerSpec.CHAR:
        from spmcompat.simple import char

        needs_text = plan.coverage.needs_text
        models = [char.train(alphabet, limit, needs_text=needs_text) for limit in options.limits]
    else:
        corpus = cut_corpus(counts, alphabet, plan, source, context)
        del counts, source
        if options.unigram is None:
            from spmcompat.simple import word

            total = corpus.total_count
            models = [
                word.train(corpus.counted_pretokens(), total, limit) for limit in options.limits
            ]
        else:
            from spmcompat.unigram.trainer import train_sizes

            lines = seed_lines(options.unigram[0].seed_sentencepieces_file)
            models = train_sizes(corpus, options.unigram, context, lines)
    return models, test_lines


def read(
    job: Job, context: Context
) -> tuple[Counts, list[tuple[int, int]], Source | None, Sequence[bytes]]:
    """Read the text, or counts of it.

    Returns the counts, the alphabet, the text if seeding may read it again, and the lines that the
    models store as self-test samples.
    """
    plan = job.plan
    if job.input.counts is not None:
        from spmcompat.stored_counts.loading import load

        counts = load(plan, job.input.counts, context)
        return counts, alphabet_of_counts(counts, plan, context), None, ()
    lines = open_source(plan.text, job.input.sentences, context.report, job.input.column)
    tests = SelfTestSource(lines, plan.text) if plan.text.self_test_sample_size > 0 else None
    source = sample_sentences(lines if tests is None else tests, plan.text, context.report)
    counts, alphabet = counts_and_alphabet(plan, source, context)
    return counts, alphabet, source, () if tests is None else list(tests.sample)


def learn_parity_aware(
    job: Job,
    options: ParityOptions,
    alphabet: list[tuple[int, int]],
    context: Context,
) -> list[list[tuple[bytes, float]]]:
    """Learn the pieces of each run with parity-aware BPE."""
    from spmcompat.bpe import parity_aware
    from spmcompat.stored_counts.loading import load

    def segments_of(table: CountTable) -> tuple[SegmentCounts, int]:
        """Return the segments of a table, and the number of characters in it."""
        counts = load(job.plan, table, context)
        characters = sum(counts.characters(context.workers).values())
        return cut_for_bpe(counts, alphabet, job.plan, context), characters

    tables = job.input.languages
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
    return parity_aware.train(alphabet, languages, options, context)


def seed_lines(path: str) -> Iterator[bytes]:
    """Yield the lines of a seed file, if there is one. It is opened when a line is needed."""
    if path:
        with open_file(path, "Check seed_sentencepieces_file") as file:
            yield from file


def make_models(
    job: Job, learned: list[list[tuple[bytes, float]]], test_lines: Sequence[bytes]
) -> list[Trained]:
    """Return the model of each run. Frees the learned pieces."""
    models = []
    for run in job.runs.alone():
        with run.naming_errors():
            pieces = learned.pop(0)
            release = job.plan.text.release
            models.append(make_model(pieces, run.common, job.stored, test_lines, release))
    return models


def make_model(
    pieces: list[tuple[bytes, float]],
    spec: TrainerSpec,
    stored: Stored,
    test_lines: Sequence[bytes],
    release: Release,
) -> Trained:
    """Assign an id to each piece, and return the model."""
    meta = reachable_ids(stored.meta_pieces, len(pieces), spec)
    vocabulary = fill_ids(pieces, meta, spec)
    if stored.drops_space:
        meta = append_space(vocabulary, meta)
    model = assemble(vocabulary, meta, spec, stored.normalizer, stored.denormalizer)
    if test_lines:
        from spmcompat.old_releases.self_test import self_tests

        model.self_test_data.CopyFrom(self_tests(model, test_lines, release))
    return Trained(model.SerializeToString(), vocabulary, spec)


def deliver(models: Sequence[Trained], output: Output, files: Outputs, report: Report) -> None:
    """Give each model to its writer, or write the files of all models."""
    if output.writer is not None:
        for writer, trained in zip(writers_of(output.writer, output.sizes), models, strict=True):
            write_all(writer, trained.model)
        return
    for _, vocabulary, spec in models:
        for piece in breaking_pieces(vocabulary):
            report.warning(
                f"The piece [{piece.decode()}] contains escaped characters that break the format "
                f"of {spec.model_prefix}.vocab"
            )
    save(models, files)


def open_dump(output: Output, files: Outputs) -> Dump | None:
    """Return the object that writes a table for each step, or None without the option ``dump``."""
    if not output.dump:
        return None
    from spmcompat.dump import Dump

    return Dump(output.dump, output.dump_format, files)


def listener(output: Output, dump: Dump | None) -> OnRound | None:
    """Return a function that passes each step to `dump` and to the option `on_round`.

    The result is None if neither is given.
    """
    listeners: list[OnRound] = [] if dump is None else [dump]
    if output.on_round is not None:
        listeners.append(_naming_on_round(output.on_round))
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
            raise out_of_memory("on_round", str(error), remedy) from error

    return call
