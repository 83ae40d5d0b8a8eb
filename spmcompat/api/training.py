"""Training a model: `train`, and `SentencePieceTrainer` with the interface of ``sentencepiece``."""

from __future__ import annotations

import os

from spmcompat.options.arguments import check_sentences, make_lists, naming_keywords

TYPE_CHECKING = False  # importing typing would take longer than importing this package
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

    from typing_extensions import Unpack

    from spmcompat.model.writers import Writers
    from spmcompat.options.job import Job
    from spmcompat.options.keywords import (
        Compat,
        DumpFormat,
        InputFormat,
        LongSentences,
        ModelType,
        MStep,
        NormalizationRule,
        Normalizer,
        Objective,
        OldOptions,
        Pretokenizer,
        Prune,
        Recipe,
        SeedMode,
        SentencePieceOptions,
        SpacePieces,
        StrPath,
    )
    from spmcompat.runtime.rounds import OnRound
    from spmcompat.stored_counts.table import CountTable
    from spmcompat.text.arrow_producers import Sentences


@naming_keywords()
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
    model_writer: Writers | None = None,
    model_type: ModelType | None = None,
    vocab_size: int | Sequence[int] | None = None,
    hard_vocab_limit: bool | None = None,
    use_all_vocab: bool | None = None,
    input_format: InputFormat | None = None,
    input_column: str | None = None,
    split_lines: bool | None = None,
    long_sentences: LongSentences | None = None,
    skip_bad_records: bool | None = None,
    strict: bool | None = None,
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
    pretokenizer: Pretokenizer | None = None,
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
    normalization_rule_name: NormalizationRule | None = None,
    normalization_rule_tsv: StrPath | None = None,
    denormalization_rule_tsv: StrPath | None = None,
    add_dummy_prefix: bool | None = None,
    remove_extra_whitespaces: bool | None = None,
    minloglevel: int | None = None,
    logstream: TextIO | None = None,
    workers: int | None = None,
    sampling_seed: int | None = None,
    recipe: Recipe | None = None,
    seed_mode: SeedMode | None = None,
    prefix_recovery: bool | None = None,
    seed_factor: float | None = None,
    objective: Objective | None = None,
    drop_unused: bool | None = None,
    m_step: MStep | None = None,
    early_prune_threshold: float | None = None,
    prune: Prune | None = None,
    prune_overshoot: float | None = None,
    final_estimate: str | None = None,
    space_pieces: SpacePieces | None = None,
    dump: StrPath | None = None,
    dump_format: DumpFormat | None = None,
    on_round: OnRound | None = None,
    compat: Compat | None = None,
    **old_options: Unpack[OldOptions],
) -> None:
    """Train a model. The model does not store options that are left out or None.

    Parameters
    ----------
    input : path or sequence of paths
        Files to train on, in order. Give either `input` or `sentence_iterator`. Text files may be
        compressed; JSON Lines, CSV, Parquet and Arrow files, patterns such as ``data/*.txt``,
        ``-`` for standard input, and addresses such as ``s3://bucket/a.txt`` are accepted, too.
    sentence_iterator : iterable of str or bytes, or Arrow data
        Sentences to train on. A line break at the end of a sentence is removed. If the first item
        is a list, such as a batch of a data set, its items are sentences. Arrow data can be any
        object with ``__arrow_c_stream__`` or ``__arrow_c_array__``, such as tables, columns and
        readers of pyarrow, polars, pandas, DuckDB and nanoarrow, or an iterable of them; a
        ``LazyFrame`` of polars; a ``Dataset``, ``Scanner``, ``ParquetFile`` or file reader of
        pyarrow; and a Hugging Face data set. The strings of Arrow data are read without making
        Python objects; nulls are skipped.
    column : str
        The column to read if the Arrow data are a table. By default ``text``, or else the only
        column of strings. ``meta.text`` means the field ``text`` of the column ``meta``.
    counts : CountTable or path
        Counts of a text, as `count` returns or saves them, instead of a text. The options for
        reading and normalizing come from the counts.
    language_counts : sequence of CountTable or path
        Counts of each language, for parity-aware BPE: the language with the most tokens for its
        text chooses the next merge.
    language_development : sequence of CountTable or path
        Counts of a second text of each language. The tokens of these texts decide which language
        chooses the next merge; by default, the tokens of the texts in `language_counts` decide.
    language_ratios : sequence of float
        For each language, the factor by which its number of tokens is multiplied: a language with a
        higher factor chooses more merges.
    language_first_merges : int
        With language_counts, choose this number of merges from all languages together, as plain BPE
        does, before the languages choose.
    language_window : int
        With language_counts, look at this number of latest choices: a language that made more than
        language_alpha times the mean of all languages may not choose. 0 turns this off; the
        authors' program uses 100.
    language_alpha : float
        See language_window.
    model_prefix : path
        Where to write the model: ``<model_prefix>.model`` and ``<model_prefix>.vocab``.
    model_writer : object with ``write``
        Receives the bytes of the model, instead of files. If `vocab_size` is a list, give a list
        with a writer for each size, or a function that returns the writer of a size. The function
        is called after all models are trained.
    model_type : str
        ``unigram`` (the default), ``bpe``, ``word`` or ``char``.
    vocab_size : int or sequence of int
        Size of the vocabulary, 8000 by default. Or a list of sizes: then one run trains a model of
        each size, with the bytes that a separate run would write, under the prefix
        ``<model_prefix>-<size>``. Either all models are written or none.
    hard_vocab_limit : bool
        Fail if the text yields fewer pieces than vocab_size; if false, write fewer pieces.
    use_all_vocab : bool
        Put all words or characters of the text into the vocabulary.
    input_format : str
        ``auto`` (by file name), ``text``, ``tsv``, ``csv``, ``jsonl``, ``parquet`` or ``arrow``.
    input_column : str
        The field of JSON Lines, or the column of CSV, Parquet or Arrow files, that contains the
        text. By default ``text``, or else the only column of strings. ``meta.text`` means the field
        ``text`` in the field ``meta``.
    split_lines : bool
        Whether each line of a record or item is a sentence, instead of the whole record or item.
    long_sentences : str
        What to do with sentences longer than `max_sentence_length`: leave them out (``skip``), or
        divide them at white space (``split``).
    skip_bad_records : bool
        Whether to skip records of JSON Lines and CSV that cannot be read, instead of failing.
    strict : bool
        Fail if the text contains NUL characters or bytes that are not UTF-8, or if more than a
        hundredth of its lines or bytes are skipped because they are too long, null, broken or
        contain U+2585. Otherwise, these cause only warnings.
    input_sentence_size : int
        Maximum number of sentences to train on, more than 100; 0 means all.
    shuffle_input_sentence : bool
        With input_sentence_size, draw sentences at random; otherwise, take the first ones.
    max_sentence_length : int
        Maximum length of a sentence in bytes; longer sentences are skipped.
    character_coverage : float
        Share of the characters of the text that the vocabulary must cover. Rarer characters become
        unknown.
    required_chars : str
        Characters to keep in the vocabulary, however rare they are.
    auto_character_coverage : bool
        Do not require characters: they compete with the other pieces for the vocabulary. Needs
        byte_fallback; unigram also needs use_sparse_pruning.
    seed_sentencepiece_size : int
        Number of seed pieces to start with; 0 means 8 times vocab_size, but at least 100000.
    seed_sentencepieces_file : path
        A file to load the seed pieces from: a piece, a tab and its count on each line.
    shrinking_factor : float
        Share of the pieces that each pruning keeps: those whose loss would be largest.
    num_sub_iterations : int
        Number of EM steps before each pruning.
    use_sparse_pruning : bool
        Prune with an L1 penalty on the expected counts, in fewer passes.
    post_l1_debias : bool
        After sparse pruning, estimate the scores once more without the penalty.
    seed_piece_length_power : float
        Seed pieces are ranked by their count times this power of their length.
    min_freq_alpha : float
        Drop seed pieces that occur less often than this number times N / (K ln K), for a text of N
        bytes and K pieces.
    num_threads : int
        Fixes the order in which float32 numbers are added, as the number of threads does in
        ``sentencepiece``. It affects the bytes of Unigram models; 16 by default. `workers` is the
        number of real threads.
    max_sentencepiece_length : int
        Maximum length of a piece in characters.
    split_by_unicode_script : bool
        Do not mix characters of different Unicode scripts in a piece.
    split_by_number : bool
        Do not mix digits with other characters in a piece. Has an effect only with
        split_by_unicode_script.
    split_by_whitespace : bool
        Do not let a piece cross white space.
    split_digits : bool
        Make each digit a separate piece.
    treat_whitespace_as_suffix : bool
        Put white space at the end of a piece, not at its beginning.
    allow_whitespace_only_pieces : bool
        Allow pieces that contain only white space, including several spaces.
    pretokenization_delimiter : str
        A delimiter that no piece crosses. It is removed from the sentences before training.
    pretokenizer : callable or str
        A function that splits a normalized sentence, with U+2581 for spaces, into parts: no piece
        crosses from one part into the next. It is called for every sentence, perhaps more than
        once, in any order and in several threads; its result must depend only on the sentence. Or
        ``script``: no piece crosses from one run of characters of one script and kind into the
        next. Or ``regex:`` and a pattern of the ``regex`` package: no piece crosses the start or
        end of a match.
    allow_inconsistent_pretokenization : bool
        Whether to train even if the joined parts differ from the sentence.
    control_symbols : sequence of str
        Control symbols. Encoding never produces them.
    user_defined_symbols : sequence of str
        User-defined symbols. In a text, each is always a single piece.
    byte_fallback : bool
        Add a piece for each of the 256 bytes. Unknown characters are split into them.
    vocabulary_output_piece_score : bool
        Whether to write the score of each piece to ``<model_prefix>.vocab``.
    unk_id : int
        Id of the unknown piece; -1 (with byte_fallback) disables it.
    bos_id : int
        Id of the beginning-of-sentence piece; -1 disables it.
    eos_id : int
        Id of the end-of-sentence piece; -1 disables it.
    pad_id : int
        Id of the padding piece; -1 disables it.
    unk_piece : str
        Name of the unknown piece.
    bos_piece : str
        Name of the beginning-of-sentence piece.
    eos_piece : str
        Name of the end-of-sentence piece.
    pad_piece : str
        Name of the padding piece.
    unk_surface : str
        The decoded text of the unknown piece.
    normalizer : object with ``serialized_normalizer_spec()``
        A ``sentencepiece.SentencePieceNormalizer``, for example. It replaces all other options for
        normalization.
    normalization_rule_name : str
        Rules to normalize the text with: nmt_nfkc, nfkc, nmt_nfkc_cf (with case folding), nfkc_cf
        or identity. Only in spmcompat: nmt_nfkc_strip_accents and nmt_nfkc_cf_strip_accents, which
        remove accents, and nmt_nfkc_mark_case, which writes capitals as a mark and a small letter.
    normalization_rule_tsv : path
        A TSV file of rules to use instead of named ones.
    denormalization_rule_tsv : path
        A TSV file of rules to apply to decoded text.
    add_dummy_prefix : bool
        Add a space at the beginning of each sentence (at its end, with treat_whitespace_as_suffix).
    remove_extra_whitespaces : bool
        Remove leading and trailing white space, and reduce repeated spaces to one.
    minloglevel : int
        0 shows all messages, 1 warnings and errors, 2 errors only.
    logstream : text stream
        Where to write messages; by default standard error, or the program's own logging.
    workers : int
        Number of real threads, by default one for each core. It never changes the model.
    sampling_seed : int
        Seed of the sample that `input_sentence_size` draws.
    recipe : str
        Set several of the options below. Options that you give yourself take precedence. paper: the
        seed pieces of Land and Pinter. fsp: also their flat score pruning. mingram: the fewest
        tokens (arXiv 2606.27019).
    seed_mode : str
        Where the seed pieces come from. full_text: substrings that branch in the text. pretokens:
        substrings that branch in the distinct segments, and whole segments. bpe: the merges of BPE.
    prefix_recovery : bool
        If a substring is not a valid seed piece, use its longest valid prefix.
    seed_factor : float
        Number of seed pieces, as a multiple of vocab_size; 0 means that seed_sentencepiece_size
        decides.
    objective : str
        likelihood: EM over all segmentations. fewest_tokens: hard EM over the segmentations with
        the fewest pieces, using the most probable of them; prunes once, by usage.
    drop_unused : bool
        With objective=fewest_tokens, drop in each step the pieces that no best segmentation uses,
        except required characters, as the published code of MinGram does. The final vocabulary may
        be smaller than vocab_size: see hard_vocab_limit.
    m_step : str
        How the M-step estimates scores from expected counts; ml means maximum likelihood.
    early_prune_threshold : float
        In the M-step, drop the pieces whose expected count is below this value, and raise the
        counts of the remaining pieces to at least 0.01. The last EM steps drop no pieces; above 0.5
        or with prune=flat, no step drops required characters. The counts of pieces that cannot be
        dropped are raised to at least 0.5.
    prune : str
        Which pieces each pruning keeps. likelihood: the pieces whose loss would be largest. flat:
        the required characters and the pieces with the highest scores. exact: like likelihood, but
        the loss is that of the best segmentation of the text without the piece.
    prune_overshoot : float
        End EM and pruning at this multiple of vocab_size, and then drop the pieces with the lowest
        scores.
    final_estimate : str
        How to estimate the final scores. none: do not estimate them again. renormalize: scale the
        probabilities so that they sum to 1. em:N: run N more EM steps.
    space_pieces : str
        How to treat spaces. prefix: a space belongs to the piece after it. separate: each space is
        a separate piece, and there is no dummy prefix. dropped: like separate, but the space has
        the last id and is not counted in vocab_size, so you can remove it from encoded text.
    dump : path
        A new folder for tables of all steps of the training run.
    dump_format : str
        The format of the tables that dump writes; parquet needs the pyarrow package.
    on_round : callable
        A function that is called with a `Step` of `spmcompat.runtime.rounds` after each step of
        the training, in the thread of the caller. If it raises an exception, training ends:
        nothing is written, and the caller gets the exception.
    compat : str
        The release of ``sentencepiece`` to train as; by default, the newest known one.
    **old_options
        Options that only earlier releases of ``sentencepiece`` use: see `compat`.

    Raises
    ------
    TrainingError
        If training cannot continue. It is also a ``ValueError`` or an ``OSError`` if a value or a
        file is the cause, and a ``MemoryError`` if memory ran out.
    UnknownOptionError
        If there is no such keyword. The message suggests similar ones.
    """
    given = {name: value for name, value in locals().items() if value is not None}
    given.update(given.pop("old_options"))
    for name in ("sentence_iterator", "model_writer", "logstream"):
        given.pop(name, None)
    from spmcompat.options.from_keywords import from_values  # noqa: PLC0415
    from spmcompat.options.job import make_job  # noqa: PLC0415

    make_lists(given)
    for name in ("model_prefix", "seed_sentencepieces_file", "dump"):
        if name in given:
            given[name] = os.fspath(given[name])
    check_sentences(sentence_iterator)
    _run(make_job(from_values(given), sentence_iterator, model_writer), logstream)


def _run(job: Job, logstream: TextIO | None) -> None:
    from spmcompat.runtime.progress import Report  # noqa: PLC0415
    from spmcompat.training import run  # noqa: PLC0415

    run(job, Report(job.min_log_level, logstream))


class SentencePieceTrainer:
    """The trainer with the interface of the ``sentencepiece`` package."""

    @staticmethod
    def train(
        arg: str | None = None,
        logstream: TextIO | None = None,
        **kwargs: Unpack[SentencePieceOptions],
    ) -> None:
        """Train a model from one string of flags, or from keywords.

        Parameters
        ----------
        arg : str, optional
            Flags in one string, ``--input=FILE --model_prefix=NAME``. If it is given, the keywords
            of ``sentencepiece`` are ignored, and those that only spmcompat has are refused.
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
        UnknownOptionError
            If there is no such keyword. The message suggests similar ones.
        """
        from spmcompat.options.from_keywords import from_kwargs, from_string  # noqa: PLC0415
        from spmcompat.options.job import make_job  # noqa: PLC0415

        if isinstance(arg, str):
            _run(make_job(from_string(arg, kwargs)), logstream)
            return

        sentences = kwargs.pop("sentence_iterator", None)
        sentences = kwargs.pop("sentence_reader", sentences)
        writer = kwargs.pop("model_writer", None)
        with naming_keywords():  # a string has flags, so its errors name them
            check_sentences(sentences)
            _run(make_job(from_kwargs(kwargs), sentences, writer), logstream)

    Train = train
