"""One run from settings to files; the whole pipeline on one screen."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from spmcompat.errors import MissingFileError, OutOfMemoryError, is_out_of_memory
from spmcompat.model.entries import breaking_pieces
from spmcompat.model.meta_pieces import MetaPiece
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.model.vocabulary import Model, append_space, assemble, fill_ids, reachable_ids
from spmcompat.model.writers import Writer, save
from spmcompat.options.checks import cautions, check_alphabet, check_counted, check_room, verify
from spmcompat.options.planning import plan_of
from spmcompat.options.settings import Settings, with_charsmaps
from spmcompat.plan import Plan
from spmcompat.runtime.job_thread import prepare_thread
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.segments.corpus import Corpus, SegmentCounts
from spmcompat.segments.cutting import counts_and_alphabet, cut_corpus, cut_for_bpe
from spmcompat.text.sources import SelfTestSource, open_source, sample_sentences

if TYPE_CHECKING:
    from spmcompat.dump import Dump
    from spmcompat.runtime.rounds import OnRound, Round


def run(
    settings: Settings,
    sentences: Iterable[str | bytes] | None = None,
    writer: Writer | None = None,
    report: Report | None = None,
) -> None:
    """Train a model and write it.

    Parameters
    ----------
    settings : Settings
        What to train, and how.
    sentences : iterable of str or bytes, optional
        The corpus, if it is not read from files.
    writer : object with ``write``, optional
        Takes the bytes of the model, if it is not written to files.
    report : Report, optional
        Takes log lines and progress; by default standard error or the program's logging.

    Raises
    ------
    TrainingError
        If training cannot go on; nothing is written then.
    """
    report = report or Report(settings.min_log_level)
    try:
        prepare_thread()
        return train(settings, sentences, writer, report)
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        reason = str(error)
    # Raised outside of the handler: there, the first error would keep the memory of the run alive.
    raise OutOfMemoryError(report.current, reason)


def train(
    settings: Settings,
    sentences: Iterable[str | bytes] | None,
    writer: Writer | None,
    report: Report,
) -> None:
    """Train a model and write it, as `run` does, but let a MemoryError through."""
    settings = with_charsmaps(settings)
    meta = verify(settings, has_sentences=sentences is not None, has_writer=writer is not None)
    for caution in [*settings.notes, *cautions(settings)]:
        report.warning(caution)

    if settings.recipe:
        report.info(settings.recipe)
    workers = Workers(settings.workers)
    dump = open_dump(settings)
    with dump or nullcontext():
        on_round = listener(settings, dump)
        write_model(settings, meta, sentences, writer, workers, report, on_round)
        if dump is not None:
            steps = dump.finish()
            report.info(f"Saved the dump of {steps} steps: {settings.extensions.dump}")


def open_dump(settings: Settings) -> Dump | None:
    """Return what writes the tables of the steps, if the options ask for them."""
    if not settings.extensions.dump:
        return None
    from spmcompat.dump import Dump  # noqa: PLC0415

    return Dump(settings.extensions.dump, settings.extensions.dump_format)


def listener(settings: Settings, dump: Dump | None) -> OnRound | None:
    """Return one function for all that want to know each step; None if nothing does."""
    wanted: list[OnRound] = [] if dump is None else [dump]
    if settings.on_round is not None:
        wanted.append(settings.on_round)
    if not wanted:
        return None

    def tell(done: Round) -> None:
        for one in wanted:
            one(done)

    return tell


def write_model(
    settings: Settings,
    meta: dict[int, MetaPiece],
    sentences: Iterable[str | bytes] | None,
    writer: Writer | None,
    workers: Workers,
    report: Report,
    on_round: OnRound | None,
) -> None:
    """Learn the pieces, give them their ids, and write the model."""
    plan = plan_of(settings, [piece.piece for piece in meta.values()])
    pieces, test_lines = learn(plan, sentences, settings, len(meta), workers, report, on_round)
    report.step("Writing")
    meta = reachable_ids(meta, len(pieces), settings.trainer)
    vocabulary = fill_ids(pieces, meta, settings.trainer)
    if settings.extensions.space_pieces == "dropped":
        meta = append_space(vocabulary, meta)
    specs = settings.trainer, settings.normalizer, settings.denormalizer
    model = assemble(vocabulary, meta, *specs)
    if test_lines:
        from spmcompat.old_releases.self_test import self_tests  # noqa: PLC0415

        complete = ModelProto.FromString(model.serialize())
        samples = self_tests(complete, test_lines, settings.release)
        model.rest.self_test_data.CopyFrom(samples)
    deliver(model, vocabulary, writer, report)


def learn(
    plan: Plan,
    sentences: Iterable[str | bytes] | None,
    settings: Settings,
    meta_pieces: int,
    workers: Workers,
    report: Report,
    on_round: OnRound | None,
) -> tuple[list[tuple[bytes, float]], Sequence[bytes]]:
    """Read the text and learn the pieces; return them, and lines for the model's self tests."""
    lines = open_source(plan.text, sentences, report)
    tests = SelfTestSource(lines, plan.text) if plan.text.self_test_sample_size > 0 else None
    read = lines if tests is None else tests
    source = sample_sentences(read, plan.text, workers, report)
    counts, alphabet = counts_and_alphabet(plan, source, workers, report)
    check(settings, alphabet, meta_pieces)
    kind = settings.trainer.model_type
    if kind == TrainerSpec.CHAR:
        pieces = learn_characters(alphabet, settings, meta_pieces)
    elif kind == TrainerSpec.BPE:
        segments = cut_for_bpe(counts, alphabet, plan, workers, report)
        del counts, source
        pieces = learn_bpe(segments, alphabet, settings, meta_pieces, workers, report, on_round)
    else:
        corpus = cut_corpus(counts, alphabet, plan, source, workers, report)
        del counts, source
        if kind == TrainerSpec.WORD:
            pieces = learn_words(corpus, settings, meta_pieces)
        else:
            pieces = learn_unigram(corpus, settings, meta_pieces, workers, report, on_round)
    return pieces, [] if tests is None else list(tests.sample)


def check(settings: Settings, alphabet: list[tuple[int, int]], meta_pieces: int) -> None:
    """Check that the vocabulary has room for the alphabet, before the text is cut.

    Raises
    ------
    TrainingError
        If there is no room.
    """
    spec = settings.trainer
    if spec.model_type not in (TrainerSpec.BPE, TrainerSpec.UNIGRAM):
        return
    check_room(spec, meta_pieces)
    if not spec.auto_character_coverage:
        check_alphabet(len(alphabet), meta_pieces, spec.vocab_size)
    if spec.model_type == TrainerSpec.BPE and settings.release.bpe_needs_required_chars:
        check_counted(alphabet)


# Only the trainer of the model type is imported: all of them take as long as a small text.


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
    """Return how many pieces a simple model may have; None for any number."""
    spec = settings.trainer
    return None if spec.use_all_vocab else spec.vocab_size - meta_pieces


def learn_bpe(
    segments: SegmentCounts,
    alphabet: list[tuple[int, int]],
    settings: Settings,
    meta_pieces: int,
    workers: Workers,
    report: Report,
    on_round: OnRound | None,
) -> list[tuple[bytes, float]]:
    """Learn the pieces by merging."""
    from spmcompat.bpe import trainer  # noqa: PLC0415

    spec = settings.trainer
    size = spec.vocab_size - meta_pieces
    options = trainer.BpeOptions(size, spec.auto_character_coverage, settings.release)
    return trainer.train(alphabet, segments, options, workers, report, on_round)


def learn_unigram(
    corpus: Corpus,
    settings: Settings,
    meta_pieces: int,
    workers: Workers,
    report: Report,
    on_round: OnRound | None,
) -> list[tuple[bytes, float]]:
    """Learn the pieces by EM and pruning."""
    from spmcompat.unigram import trainer  # noqa: PLC0415

    spec = settings.trainer
    options = trainer.UnigramOptions(
        vocab_size=spec.vocab_size,
        final_size=spec.vocab_size - meta_pieces,
        seed_sentencepiece_size=spec.seed_sentencepiece_size,
        seed_sentencepieces_file=spec.seed_sentencepieces_file,
        shrinking_factor=spec.shrinking_factor,
        num_sub_iterations=spec.num_sub_iterations,
        lanes=spec.num_threads,
        auto_character_coverage=spec.auto_character_coverage,
        use_sparse_pruning=settings.use_sparse_pruning,
        post_l1_debias=settings.post_l1_debias,
        seed_piece_length_power=settings.seed_piece_length_power,
        min_freq_alpha=settings.min_freq_alpha,
        release=settings.release,
        **trainer.unigram_extensions(vars(settings.extensions)),
    )
    seed_lines = _read_lines(spec.seed_sentencepieces_file) if spec.seed_sentencepieces_file else ()
    return trainer.train(corpus, options, workers, report, seed_lines, on_round)


def _read_lines(path: str) -> Iterator[bytes]:
    """Yield the lines of a seed file, which is opened when the first one is needed."""
    try:
        with open(path, "rb") as file:
            yield from file
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise MissingFileError(
            f'NOT_FOUND: "{path}": {reason}: check --seed_sentencepieces_file.'
        ) from error


def deliver(
    model: Model,
    vocabulary: list[tuple[bytes, float]],
    writer: Writer | None,
    report: Report,
) -> None:
    """Give the model to the writer, or write its two files."""
    if writer is not None:
        writer.write(model.serialize())
        return
    prefix = model.rest.trainer_spec.model_prefix
    for piece in breaking_pieces(vocabulary):
        report.warning(
            f"The piece [{piece.decode()}] contains escaped characters that break the format of "
            f"{prefix}.vocab"
        )
    save(model, vocabulary, prefix)
    report.info(f"Saved {prefix}.model and {prefix}.vocab: {len(vocabulary)} pieces")
