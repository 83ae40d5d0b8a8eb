"""One run from settings to files; the whole pipeline on one screen."""

import math
import os
import sys
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from spmcompat.counting.reading import CorpusOptions, read_corpus, read_unordered
from spmcompat.errors import MissingFileError
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.model.vocabulary import Model, assemble, fill_ids
from spmcompat.model.writers import Writer, breaking_pieces, save
from spmcompat.options.checks import cautions, check_alphabet, check_counted, check_room, verify
from spmcompat.options.settings import Settings, with_charsmaps
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.text.sources import Overheard
from spmcompat.unicode.marks import SPACE_MARK

# The options, charsmap, symbols and sentences that every reader takes.
Text: TypeAlias = "tuple[CorpusOptions, bytes, list[bytes], Iterable[str | bytes] | None]"


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
        What the run speaks through; by default standard error or the program's logging.

    Raises
    ------
    TrainingError
        If training cannot go on; nothing is written then.
    """
    report = report or Report(settings.min_log_level)
    settings = with_charsmaps(settings)
    meta = verify(settings, has_sentences=sentences is not None, has_writer=writer is not None)
    for caution in [*settings.notes, *cautions(settings)]:
        report.warning(caution)

    if settings.recipe:
        report.info(settings.recipe)
    workers = Workers(settings.workers)
    charsmap = settings.normalizer.precompiled_charsmap
    tests = self_test_sample(settings)
    options = corpus_options(settings)._replace(overheard=tests)
    symbols = [piece.piece for piece in meta.values()]
    if options.spaces_apart:
        symbols.remove(SPACE_MARK)
    text = (options, charsmap, [symbol.encode() for symbol in symbols], sentences)
    pieces = learn(text, settings, len(meta), workers, report)
    report.step("Writing")
    vocabulary = fill_ids(pieces, meta, settings.trainer)
    specs = settings.trainer, settings.normalizer, settings.denormalizer
    model = assemble(vocabulary, meta, *specs)
    if tests is not None and tests.lines:
        from spmcompat.old_releases.self_test import self_tests  # noqa: PLC0415

        complete = ModelProto.FromString(model.serialize())
        samples = self_tests(complete, tests.lines, settings.release)
        model.rest.self_test_data.CopyFrom(samples)
    deliver(model, vocabulary, writer, report)


def learn(
    text: Text, settings: Settings, meta_pieces: int, workers: Workers, report: Report
) -> list[tuple[bytes, float]]:
    """Read the text as the model type needs it, and learn the pieces.

    Only the trainer of that type is imported: all of them take as long as a small text.
    """
    spec = settings.trainer
    limit = None if spec.use_all_vocab else spec.vocab_size - meta_pieces
    if spec.model_type == TrainerSpec.CHAR:
        from spmcompat.simple import char  # noqa: PLC0415

        alphabet = read_unordered(*text, workers, report).alphabet
        return char.train(alphabet, limit, needs_text=settings.release.needs_text)
    if spec.model_type == TrainerSpec.WORD:
        from spmcompat.simple import word  # noqa: PLC0415

        corpus = read_corpus(*text, workers, report)
        return word.train(corpus.counted_words(), corpus.total_count, limit)
    if spec.model_type == TrainerSpec.BPE:
        return learn_bpe(text, settings, meta_pieces, workers, report)
    return learn_unigram(text, settings, meta_pieces, workers, report)


def learn_bpe(
    text: Text, settings: Settings, meta_pieces: int, workers: Workers, report: Report
) -> list[tuple[bytes, float]]:
    """Read the text, in order only if the release needs it, and learn the pieces by merging."""
    from spmcompat.bpe import trainer  # noqa: PLC0415

    spec, release = settings.trainer, settings.release
    size = spec.vocab_size - meta_pieces
    options = trainer.BpeOptions(size, spec.auto_character_coverage, release)
    read = read_corpus if release.bpe_active_set else read_unordered
    found = read(*text, workers, report)
    check_room(spec, meta_pieces)
    if not spec.auto_character_coverage:
        check_alphabet(len(found.alphabet), meta_pieces, spec.vocab_size)
    if release.bpe_needs_required_chars:
        check_counted(found.alphabet)
    delimiter = spec.pretokenization_delimiter if release.bpe_delimits_words else ""
    segments = found.cut(delimiter.encode(), release.bpe_longest_word)
    return trainer.train(found.alphabet, segments, options, workers, report)


def learn_unigram(
    text: Text, settings: Settings, meta_pieces: int, workers: Workers, report: Report
) -> list[tuple[bytes, float]]:
    """Read the text in order, and learn the pieces by EM and pruning."""
    from spmcompat.unigram import trainer  # noqa: PLC0415

    spec = settings.trainer
    corpus = read_corpus(*text, workers, report)
    check_room(spec, meta_pieces)
    if not spec.auto_character_coverage:
        check_alphabet(len(corpus.alphabet), meta_pieces, spec.vocab_size)
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
    return trainer.train(corpus, options, workers, report, seed_lines)


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


def corpus_options(settings: Settings) -> CorpusOptions:
    """Return what of the settings concerns the corpus."""
    spec = settings.trainer
    # Distinct segments are never too many for one search.
    in_chunks = settings.extensions.seed_mode == "full_text"
    chunk_bytes = CorpusOptions().chunk_bytes if in_chunks else sys.maxsize
    options = CorpusOptions(
        input=tuple(spec.input),
        tsv=spec.input_format == "tsv",
        input_sentence_size=spec.input_sentence_size,
        shuffle_input_sentence=spec.shuffle_input_sentence,
        sampling_seed=settings.sampling_seed,
        max_sentence_length=spec.max_sentence_length,
        character_coverage=math.inf if spec.use_all_vocab else spec.character_coverage,
        required_chars=spec.required_chars,
        all_characters=spec.auto_character_coverage,
        chunk_bytes=chunk_bytes,
        add_dummy_prefix=settings.normalizer.add_dummy_prefix,
        remove_extra_whitespaces=settings.normalizer.remove_extra_whitespaces,
        treat_whitespace_as_suffix=spec.treat_whitespace_as_suffix,
        pretokenization_delimiter=spec.pretokenization_delimiter,
        pretokenizer=settings.pretokenizer,
        allow_inconsistent_pretokenization=settings.allow_inconsistent_pretokenization,
        max_piece_length=spec.max_sentencepiece_length,
        split_by_unicode_script=spec.split_by_unicode_script,
        split_by_number=spec.split_by_number,
        split_by_whitespace=spec.split_by_whitespace,
        split_digits=spec.split_digits,
        allow_whitespace_only_pieces=spec.allow_whitespace_only_pieces,
        for_seeds=spec.model_type == TrainerSpec.UNIGRAM,
        release=settings.release,
    )
    if spec.model_type == TrainerSpec.BPE and settings.release.bpe_delimits_words:
        options = options._replace(pretokenization_delimiter="")
    if settings.extensions.space_pieces == "separate":
        options = words_between_spaces(options)
    return options if spec.model_type != TrainerSpec.WORD else whole_words(options)


def self_test_sample(settings: Settings) -> Overheard | None:
    """Return what draws the lines that the model is to test itself with, if it is to.

    The reference draws them by ``random_seed``, where it can be repeated at all.
    """
    size = settings.trainer.self_test_sample_size
    if size == 0:
        return None
    seed = settings.random_seed
    repeatable = seed is not None and settings.release.sample_is_repeatable
    return Overheard(size, settings.sampling_seed if seed is None else seed, repeatable)


def whole_words(options: CorpusOptions) -> CorpusOptions:
    """Return the options with words cut before each space mark, as the word model takes them."""
    return options._replace(
        space_begins_word=True,
        split_by_unicode_script=False,
        split_by_whitespace=True,
        split_digits=False,
        allow_whitespace_only_pieces=False,
    )


def words_between_spaces(options: CorpusOptions) -> CorpusOptions:
    """Return the options with words that hold no space, since no piece but its own may."""
    return options._replace(
        spaces_apart=True,
        split_by_whitespace=True,
        required_chars=options.required_chars.replace(SPACE_MARK, ""),
    )


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
