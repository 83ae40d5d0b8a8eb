"""Training a model: `train`, and `SentencePieceTrainer` with the names of ``sentencepiece``."""

from __future__ import annotations

import os

from spmcompat.api.arguments import check_sentences, make_lists

TYPE_CHECKING = False  # importing typing would take longer than importing this package
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal, Protocol, TextIO

    from spmcompat.api.arguments import StrPath
    from spmcompat.model.writers import Writer
    from spmcompat.runtime.rounds import Step
    from spmcompat.stored_counts.table import CountTable
    from spmcompat.text.arrow_producers import Sentences

    class Normalizer(Protocol):
        """A normalizer of the ``sentencepiece`` package, or another object with the same method."""

        def serialized_normalizer_spec(self) -> bytes:
            """Return the normalizer's ``NormalizerSpec``, serialized."""


def train(
    *,
    input: StrPath | Sequence[StrPath] | None = None,
    sentence_iterator: Sentences | None = None,
    column: str | None = None,
    counts: CountTable | StrPath | None = None,
    language_counts: Sequence[CountTable | StrPath] | None = None,
    language_development: Sequence[CountTable | StrPath] | None = None,
    language_ratios: Sequence[float] | None = None,
    language_first_merges: int | None = None,
    language_window: int | None = None,
    language_alpha: float | None = None,
    model_prefix: StrPath | None = None,
    model_writer: Writer | Sequence[Writer] | Callable[[int], Writer] | None = None,
    model_type: Literal["unigram", "bpe", "word", "char"] | None = None,
    vocab_size: int | Sequence[int] | None = None,
    hard_vocab_limit: bool | None = None,
    use_all_vocab: bool | None = None,
    input_format: Literal["auto", "text", "tsv", "csv", "jsonl", "parquet", "arrow"] | None = None,
    input_column: str | None = None,
    split_lines: bool | None = None,
    long_sentences: Literal["skip", "split"] | None = None,
    skip_bad_records: bool | None = None,
    input_sentence_size: int | None = None,
    shuffle_input_sentence: bool | None = None,
    max_sentence_length: int | None = None,
    character_coverage: float | None = None,
    required_chars: str | None = None,
    auto_character_coverage: bool | None = None,
    seed_sentencepiece_size: int | None = None,
    seed_sentencepieces_file: StrPath | None = None,
    shrinking_factor: float | None = None,
    num_sub_iterations: int | None = None,
    use_sparse_pruning: bool | None = None,
    post_l1_debias: bool | None = None,
    seed_piece_length_power: float | None = None,
    min_freq_alpha: float | None = None,
    num_threads: int | None = None,
    max_sentencepiece_length: int | None = None,
    split_by_unicode_script: bool | None = None,
    split_by_number: bool | None = None,
    split_by_whitespace: bool | None = None,
    split_digits: bool | None = None,
    treat_whitespace_as_suffix: bool | None = None,
    allow_whitespace_only_pieces: bool | None = None,
    pretokenization_delimiter: str | None = None,
    pretokenizer: Callable[[str], Sequence[str | bytes]] | str | None = None,
    allow_inconsistent_pretokenization: bool | None = None,
    control_symbols: Sequence[str] | None = None,
    user_defined_symbols: Sequence[str] | None = None,
    byte_fallback: bool | None = None,
    vocabulary_output_piece_score: bool | None = None,
    unk_id: int | None = None,
    bos_id: int | None = None,
    eos_id: int | None = None,
    pad_id: int | None = None,
    unk_piece: str | None = None,
    bos_piece: str | None = None,
    eos_piece: str | None = None,
    pad_piece: str | None = None,
    unk_surface: str | None = None,
    normalizer: Normalizer | None = None,
    normalization_rule_name: Literal["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"]
    | None = None,
    normalization_rule_tsv: StrPath | None = None,
    denormalization_rule_tsv: StrPath | None = None,
    add_dummy_prefix: bool | None = None,
    remove_extra_whitespaces: bool | None = None,
    minloglevel: int | None = None,
    logstream: TextIO | None = None,
    workers: int | None = None,
    sampling_seed: int | None = None,
    recipe: Literal["paper", "fsp", "mingram"] | None = None,
    seed_mode: Literal["full_text", "pretokens", "bpe"] | None = None,
    prefix_recovery: bool | None = None,
    seed_factor: float | None = None,
    objective: Literal["likelihood", "fewest_tokens"] | None = None,
    drop_unused: bool | None = None,
    m_step: Literal["digamma", "ml"] | None = None,
    early_prune_threshold: float | None = None,
    prune: Literal["likelihood", "flat", "exact"] | None = None,
    prune_overshoot: float | None = None,
    final_estimate: str | None = None,
    space_pieces: Literal["prefix", "separate", "dropped"] | None = None,
    dump: StrPath | None = None,
    dump_format: Literal["tsv", "parquet"] | None = None,
    on_round: Callable[[Step], object] | None = None,
    compat: Literal["0.2.0", "0.2.1", "0.2.2", "0.2.3"] | None = None,
) -> None:
    """Train a model. The model does not store options that are left out or None.

    Parameters
    ----------
    input : path or sequence of paths
        Files to train on, in order. Give either this or `sentence_iterator`. Text files may be
        compressed; JSON Lines, CSV, Parquet and Arrow files, patterns such as ``data/*.txt``,
        ``-`` for standard input, and addresses such as ``s3://bucket/a.txt`` are accepted, too.
    sentence_iterator : iterable of str or bytes, or Arrow data
        Sentences to train on. A line break at the end of a sentence is removed. Arrow data can be
        any object with ``__arrow_c_stream__`` or ``__arrow_c_array__``, such as tables, columns and
        readers of pyarrow, polars, pandas, DuckDB and nanoarrow, or an iterable of them; a
        ``LazyFrame`` of polars; a ``Dataset``, ``Scanner``, ``ParquetFile`` or file reader of
        pyarrow; and a data set of Hugging Face. Their strings are read without
        making Python objects; nulls are skipped.
    column : str
        The column to read if the Arrow data are a table. By default ``text``, or else the only
        column of strings. ``meta.text`` can name the field ``text`` of the column ``meta``.
    input_format : str
        ``auto`` (by file name), ``text``, ``tsv``, ``csv``, ``jsonl``, ``parquet`` or ``arrow``.
    input_column : str
        The field of JSON Lines, or the column of CSV, Parquet or Arrow files, that contains the
        text. By default ``text``, or else the only column of strings. ``meta.text`` can name the
        field ``text`` in the field ``meta``.
    split_lines : bool
        Whether each line of a record or item is a sentence, instead of the whole record or item.
    long_sentences : str
        What to do with sentences longer than `max_sentence_length`: leave them out (``skip``), or
        divide them at white space (``split``).
    skip_bad_records : bool
        Whether to skip records of JSON Lines and CSV that cannot be read, instead of failing.
    counts : CountTable or path
        Counts of a text, as `count` returns or saves them, instead of a text. The options for
        reading and normalizing come from the counts.
    language_counts : sequence of CountTable or path
        Counts of each language, for parity-aware BPE: the language with the most tokens for its
        text chooses the next merge.
    language_development : sequence of CountTable or path
        Counts of the text of each language whose tokens are counted.
    language_ratios : sequence of float
        The number of tokens of each language is multiplied by its ratio.
    model_prefix : path
        Where to write the model: ``<model_prefix>.model`` and ``<model_prefix>.vocab``.
    model_writer : object with ``write``
        Receives the bytes of the model, instead of files. With a list as `vocab_size`, a list with
        a writer for each size, or a function that returns the writer of a size. The function is
        called after all models are trained.
    model_type : str
        ``unigram`` (the default), ``bpe``, ``word`` or ``char``.
    vocab_size : int
        Size of the vocabulary, 8000 by default. Or a list of sizes: then one run trains a model of
        each size, with the bytes that a separate run would write, under the prefix
        ``<model_prefix>-<size>``. Either all models are written or none.
    num_threads : int
        Fixes the order in which float32 numbers are added, as the number of threads does in
        ``sentencepiece``. It is part of the result of a Unigram model; 16 by default. For the
        number of real threads see `workers`.
    pretokenizer : callable or str
        A function that splits a normalized sentence, with U+2581 for spaces, into parts: no piece
        crosses from one part into the next. It is called for every sentence, perhaps more than
        once, in any order and in several threads; its result must depend only on the sentence. Or
        ``script``: no piece crosses from one run of characters of one script and kind into the
        next. Or ``regex:`` and a pattern of the package ``regex``: no piece crosses the start or
        end of a match.
    allow_inconsistent_pretokenization : bool
        Whether to train even if the joined parts differ from the sentence.
    normalizer : object with ``serialized_normalizer_spec()``
        A ``sentencepiece.SentencePieceNormalizer``, for example. It replaces all other options for
        normalization.
    logstream : text stream
        Where to write messages; by default standard error, or the program's own logging.
    workers : int
        Number of real threads, by default one for each core. It never changes the model.
    sampling_seed : int
        Seed of the sample that `input_sentence_size` draws.
    dump : path
        A new folder for tables of all steps of the training.
    on_round : callable
        A function that is called with a `Step` of `spmcompat.runtime.rounds` after each step of
        the training, in the thread of the caller. If it raises an exception, training ends:
        nothing is written, and the caller gets the exception.
    compat : str
        The release of ``sentencepiece`` to train as; by default, the newest known one.
    **others
        Every other option has the same meaning as the flag of that name: see ``spm_train --help``.

    Raises
    ------
    TrainingError
        If training cannot continue. It is also a ``ValueError`` or an ``OSError`` if a value or a
        file is the cause, and a ``MemoryError`` if memory ran out.
    """
    given = {name: value for name, value in locals().items() if value is not None}
    for name in ("sentence_iterator", "model_writer", "logstream"):
        given.pop(name, None)
    from spmcompat.options.from_keywords import from_values  # noqa: PLC0415
    from spmcompat.runtime.progress import Report  # noqa: PLC0415
    from spmcompat.training import run  # noqa: PLC0415

    make_lists(given)
    for name in ("model_prefix", "seed_sentencepieces_file", "dump"):
        if name in given:
            given[name] = os.fspath(given[name])
    check_sentences(sentence_iterator)
    settings = from_values(given)
    report = Report(settings.min_log_level, logstream)
    run(settings, sentence_iterator, model_writer, report)


class SentencePieceTrainer:
    """The trainer with the interface of the ``sentencepiece`` package."""

    @staticmethod
    def train(arg: object = None, logstream: TextIO | None = None, **kwargs: object) -> None:
        """Train a model from one string of flags, or from keywords.

        Parameters
        ----------
        arg : str, optional
            Flags in one string, ``--input=FILE --model_prefix=NAME``. If it is given, keywords are
            ignored.
        logstream : text stream, optional
            Where to write messages.
        **kwargs
            Any flag of ``spm_train``, and: ``sentence_iterator`` or ``sentence_reader``, an
            iterable of str or bytes, or Arrow data; ``model_writer``, an object with ``write``; and
            ``column``, ``normalizer``, ``pretokenizer``, ``allow_inconsistent_pretokenization``,
            ``on_round`` and ``vocab_size`` as a list, as `train` takes them.

        Raises
        ------
        TrainingError
            If training cannot continue.
        """
        from spmcompat.options.from_keywords import from_kwargs, from_string  # noqa: PLC0415
        from spmcompat.runtime.progress import Report  # noqa: PLC0415
        from spmcompat.training import run  # noqa: PLC0415

        if isinstance(arg, str):
            settings = from_string(arg)
            run(settings, report=Report(settings.min_log_level, logstream))
            return

        sentences = kwargs.pop("sentence_iterator", None)
        sentences = kwargs.pop("sentence_reader", sentences)
        writer = kwargs.pop("model_writer", None)
        check_sentences(sentences)
        settings = from_kwargs(kwargs)
        run(settings, sentences, writer, Report(settings.min_log_level, logstream))  # type: ignore[arg-type]

    Train = train
