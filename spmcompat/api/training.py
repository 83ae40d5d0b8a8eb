"""Training a model: `train`, and `SentencePieceTrainer` with the interface of ``sentencepiece``."""

from __future__ import annotations

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
        NormalizationRuleName,
        Normalizer,
        Objective,
        OldOptions,
        Pretokenizer,
        Progress,
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
    # Written by python -m derive.options:
    input: StrPath | Sequence[StrPath] | None = None,
    sentence_iterator: Sentences | None = None,
    input_format: InputFormat | None = None,
    model_prefix: StrPath | None = None,
    model_writer: Writers | None = None,
    vocabulary_output_piece_score: bool | None = None,
    input_sentence_size: int | None = None,
    shuffle_input_sentence: bool | None = None,
    max_sentence_length: int | None = None,
    character_coverage: float | None = None,
    required_chars: str | None = None,
    auto_character_coverage: bool | None = None,
    model_type: ModelType | None = None,
    vocab_size: int | Sequence[int] | None = None,
    hard_vocab_limit: bool | None = None,
    use_all_vocab: bool | None = None,
    byte_fallback: bool | None = None,
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
    normalization_rule_name: NormalizationRuleName | None = None,
    normalization_rule_tsv: StrPath | None = None,
    denormalization_rule_tsv: StrPath | None = None,
    add_dummy_prefix: bool | None = None,
    remove_extra_whitespaces: bool | None = None,
    normalizer: Normalizer | None = None,
    control_symbols: Sequence[str] | None = None,
    user_defined_symbols: Sequence[str] | None = None,
    unk_id: int | None = None,
    bos_id: int | None = None,
    eos_id: int | None = None,
    pad_id: int | None = None,
    unk_piece: str | None = None,
    bos_piece: str | None = None,
    eos_piece: str | None = None,
    pad_piece: str | None = None,
    unk_surface: str | None = None,
    num_threads: int | None = None,
    num_sub_iterations: int | None = None,
    shrinking_factor: float | None = None,
    seed_sentencepiece_size: int | None = None,
    seed_sentencepieces_file: StrPath | None = None,
    use_sparse_pruning: bool | None = None,
    post_l1_debias: bool | None = None,
    seed_piece_length_power: float | None = None,
    min_freq_alpha: float | None = None,
    minloglevel: int | None = None,
    logstream: TextIO | None = None,
    progress: Progress | None = None,
    input_column: str | None = None,
    split_lines: bool | None = None,
    long_sentences: LongSentences | None = None,
    skip_bad_records: bool | None = None,
    strict: bool | None = None,
    workers: int | None = None,
    sampling_seed: int | None = None,
    compat: Compat | None = None,
    counts: CountTable | StrPath | None = None,
    language_counts: Sequence[CountTable | StrPath] | None = None,
    language_development: Sequence[CountTable | StrPath] | None = None,
    language_ratios: Sequence[float] | None = None,
    language_first_merges: int | None = None,
    language_window: int | None = None,
    language_alpha: float | None = None,
    column: str | None = None,
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
    **old_options: Unpack[OldOptions],
) -> None:
    """Train a model. The model does not store options that are left out or None.

    Parameters
    ----------
    input : path or sequence of paths
        Files to train on, in order. Give either `input` or `sentence_iterator`. Text files may be
        compressed; JSON Lines, CSV, Parquet and Arrow files, patterns such as ``data/*.txt``, ``-``
        for standard input, and addresses such as ``s3://bucket/a.txt`` are accepted, too.
    sentence_iterator : iterable of str or bytes, or Arrow data
        Sentences to train on. A line break at the end of a sentence is removed. If the first item
        is a list, such as a batch of a data set, its items are sentences. Arrow data can be any
        object with ``__arrow_c_stream__`` or ``__arrow_c_array__``, such as tables, columns and
        readers of pyarrow, polars, pandas, DuckDB and nanoarrow, or an iterable of them; a
        ``LazyFrame`` of polars; a ``Dataset``, ``Scanner``, ``ParquetFile`` or file reader of
        pyarrow; and a Hugging Face data set. The strings of Arrow data are read without making
        Python objects; nulls are skipped.
    input_format : {'auto', 'text', 'tsv', 'jsonl', 'csv', 'parquet', 'arrow'}
        Format of the input: 'text', or 'tsv' with a text, a tab and its count on each line;
        'jsonl', 'csv', 'parquet' or 'arrow'; or 'auto' (the default), which chooses by the name of
        each file.
    model_prefix : path
        Write the model to the files PREFIX.model and PREFIX.vocab, where PREFIX is this value.
    model_writer : object with ``write``
        An object whose method write receives the model, instead of files. If vocab_size is a list:
        a list with a writer for each size, or a function that returns the writer of a size, which
        is called after all models are trained.
    vocabulary_output_piece_score : bool, default True
        Write the score of each piece to PREFIX.vocab.
    input_sentence_size : int, default 0
        Maximum number of sentences to train on, more than 100; 0 means all.
    shuffle_input_sentence : bool, default True
        With input_sentence_size, draw sentences at random; otherwise, take the first ones.
    max_sentence_length : int, 10 to 1073741824, default 4192
        Maximum length of a sentence in bytes; longer sentences are skipped.
    character_coverage : float, 0.98 to 1, default 0.9995
        Share of the characters of the text that the vocabulary must cover. Rarer characters become
        unknown.
    required_chars : str
        Characters to keep in the vocabulary, however rare they are.
    auto_character_coverage : bool, default False
        Do not require characters: they compete with the other pieces for the vocabulary. Needs
        byte_fallback; unigram also needs use_sparse_pruning. For unigram and bpe models.
    model_type : {'unigram', 'bpe', 'word', 'char'}, default 'unigram'
        The algorithm.
    vocab_size : int or sequence of int, 1 or more, default 8000
        Size of the vocabulary, including the reserved pieces and symbols. Several sizes, such as
        8000,16000 (in Python, a list), are trained in one run, which writes PREFIX-8000.model,
        PREFIX-16000.model and so on, as separate runs would. Either all models are written or none.
    hard_vocab_limit : bool, default True
        Fail if the text yields fewer pieces than vocab_size; if false, write fewer pieces.
    use_all_vocab : bool, default False
        Put all words or characters of the text into the vocabulary. For word and char models.
    byte_fallback : bool, default False
        Add a piece for each of the 256 bytes. Unknown characters are split into them.
    max_sentencepiece_length : int, 1 to 512, default 16
        Maximum length of a piece in characters. For unigram and bpe models.
    split_by_unicode_script : bool, default True
        Do not mix characters of different Unicode scripts in a piece. For unigram and bpe models.
    split_by_number : bool, default True
        Do not mix digits with other characters in a piece. Has an effect only with
        split_by_unicode_script. For unigram and bpe models.
    split_by_whitespace : bool, default True
        Do not let a piece cross white space. For unigram and bpe models.
    split_digits : bool, default False
        Make each digit a separate piece. For unigram and bpe models.
    treat_whitespace_as_suffix : bool, default False
        Put white space at the end of a piece, not at its beginning.
    allow_whitespace_only_pieces : bool, default False
        Allow pieces that contain only white space, including several spaces. For unigram and bpe
        models.
    pretokenization_delimiter : str
        A delimiter that no piece crosses. It is removed from the sentences before training. For
        unigram and bpe models.
    pretokenizer : callable or str
        A function that splits a normalized sentence, with U+2581 for spaces, into parts: no piece
        crosses from one part into the next. It is called for every sentence, perhaps more than
        once, in any order and in several threads; its result must depend only on the sentence. Or
        ``script``: no piece crosses from one run of characters of one script and kind into the
        next. Or ``regex:`` and a pattern of the ``regex`` package: no piece crosses the start or
        end of a match. For unigram and bpe models.
    allow_inconsistent_pretokenization : bool, default False
        Train even if the parts that the pretokenizer returns do not join to the sentence. For
        unigram and bpe models.
    normalization_rule_name : str, default 'nmt_nfkc'
        Rules to normalize the text with: nmt_nfkc, nfkc, nmt_nfkc_cf (with case folding), nfkc_cf
        or identity. Only in spmcompat: nmt_nfkc_strip_accents and nmt_nfkc_cf_strip_accents, which
        remove accents, and nmt_nfkc_mark_case, which writes capitals as a mark and a small letter.
    normalization_rule_tsv : path
        A TSV file of rules to use instead of named ones.
    denormalization_rule_tsv : path
        A TSV file of rules to apply to decoded text.
    add_dummy_prefix : bool, default True
        Add a space at the beginning of each sentence (at its end, with treat_whitespace_as_suffix).
    remove_extra_whitespaces : bool, default True
        Remove leading and trailing white space, and reduce repeated spaces to one.
    normalizer : object with ``serialized_normalizer_spec()``
        A SentencePieceNormalizer of sentencepiece, or another object with
        serialized_normalizer_spec(). It replaces all other options for normalization.
    control_symbols : sequence of str
        Control symbols. Encoding never produces them.
    user_defined_symbols : sequence of str
        User-defined symbols. In a text, each is always a single piece.
    unk_id : int, default 0
        Id of the unknown piece; -1 (with byte_fallback) disables it.
    bos_id : int, default 1
        Id of the beginning-of-sentence piece; -1 disables it.
    eos_id : int, default 2
        Id of the end-of-sentence piece; -1 disables it.
    pad_id : int, default -1
        Id of the padding piece; -1 disables it.
    unk_piece : str, default '<unk>'
        Name of the unknown piece.
    bos_piece : str, default '<s>'
        Name of the beginning-of-sentence piece.
    eos_piece : str, default '</s>'
        Name of the end-of-sentence piece.
    pad_piece : str, default '<pad>'
        Name of the padding piece.
    unk_surface : str, default ' ⁇ '
        The decoded text of the unknown piece.
    num_threads : int, 1 to 1024, default 16
        Fix the order in which float32 numbers are added, which affects the result: sentencepiece
        divides the sentences among this many threads, and then adds the sums of the threads.
        spmcompat uses the same order, but takes the number of its threads from workers. For unigram
        models.
    num_sub_iterations : int, 1 to 10, default 2
        Number of EM steps before each pruning. For unigram models.
    shrinking_factor : float, 0.5 to 0.95, default 0.75
        Share of the pieces that each pruning keeps: those whose loss would be largest. For unigram
        models.
    seed_sentencepiece_size : int, default 1000000
        Number of seed pieces to start with; 0 means 8 times vocab_size, but at least 100000. For
        unigram models.
    seed_sentencepieces_file : path
        A file to load the seed pieces from: a piece, a tab and its count on each line. For unigram
        models.
    use_sparse_pruning : bool, default False
        Prune with an L1 penalty on the expected counts, in fewer passes. For unigram models.
    post_l1_debias : bool, default True
        After sparse pruning, estimate the scores once more without the penalty. For unigram models.
    seed_piece_length_power : float, default 1
        Seed pieces are ranked by their count times this power of their length. For unigram models.
    min_freq_alpha : float, default 0
        Drop seed pieces that occur less often than this number times N / (K ln K), for a text of N
        bytes and K pieces. For unigram models.
    minloglevel : int, default 0
        0 shows all messages, 1 warnings and errors, 2 errors only.
    logstream : text stream
        A text stream for the messages; by default standard error, or the program's own logging.
    progress : {'bar', 'json'}, default 'bar'
        How to show the progress. bar: bars on a terminal or in a notebook, log lines elsewhere.
        json: lines of JSON, for programs.
    input_column : str
        Read the text from this field or column of JSON Lines, CSV, Parquet or Arrow files; by
        default, the one named text, or else the only column of strings. meta.text means the field
        text in the field meta. With this option, .csv files are read as tables.
    split_lines : bool, default False
        Treat every line of a record as a sentence. Otherwise, each record of JSON Lines, row of a
        table, or item of an iterator is one sentence, including its line breaks; if it is a list of
        strings, each string is one sentence.
    long_sentences : {'skip', 'split'}, default 'skip'
        What to do with a sentence that is longer than max_sentence_length. skip: leave it out.
        split: divide it at white space into sentences that are short enough; a word that is too
        long is left out.
    skip_bad_records : bool, default False
        Skip the records of JSON Lines and CSV that cannot be read, and report their number.
    strict : bool, default False
        Fail if the text contains NUL characters or bytes that are not UTF-8, or if more than a
        hundredth of its lines or bytes are skipped because they are too long, null, broken or
        contain U+2585. Otherwise, these cause only warnings.
    workers : int, 1 to 1024
        Use this number of real threads; by default, one for each core. It affects only the time,
        never the result (num_threads does).
    sampling_seed : int, default 12345678
        Seed of the random sample that input_sentence_size draws and, without random_seed, of the
        lines that self_test_sample_size draws.
    compat : {'0.2.0', '0.2.1', '0.2.2', '0.2.3'}, default '0.2.3'
        The release of sentencepiece to train as.
    counts : CountTable or path
        Train from the counts that spmcompat count made of a text, instead of from the text. The
        options for reading and normalizing come from the counts.
    language_counts : sequence of CountTable or path
        Train parity-aware BPE (arXiv 2508.04796) from files of counts, one for each language:
        before each merge, the language with the most tokens for its text chooses its most frequent
        pair. For bpe models.
    language_development : sequence of CountTable or path
        With language_counts, compare the languages by their tokens per sentence in these files of
        counts, one for each language in the same order. The texts should be translations of each
        other. By default, compare the tokens per character in language_counts. For bpe models.
    language_ratios : sequence of float
        With language_counts, multiply the number of tokens of each language by its number in this
        list; a language with a higher number chooses more merges. By default, each is 1. For bpe
        models.
    language_first_merges : int, 0 or more, default 0
        With language_counts, choose this number of merges from all languages together, as plain BPE
        does, before the languages choose. For bpe models.
    language_window : int, 0 or more, default 0
        With language_counts, look at this number of latest choices: a language that made more than
        language_alpha times the mean of all languages may not choose. 0 turns this off; the
        authors' program uses 100. For bpe models.
    language_alpha : float, 1 or more, default 2
        See language_window. For bpe models.
    column : str
        The column to read if sentence_iterator is a table; by default, the one named text, or else
        the only column of strings. meta.text means the field text in the column meta.
    recipe : {'paper', 'fsp', 'mingram'}
        Set several of the options below. Options that you give yourself take precedence. paper: the
        seed pieces of Land and Pinter. fsp: also their flat score pruning. mingram: the fewest
        tokens (arXiv 2606.27019).
    seed_mode : {'full_text', 'pretokens', 'bpe'}, default 'full_text'
        Where the seed pieces come from. full_text: substrings that branch in the text. pretokens:
        substrings that branch in the distinct segments, and whole segments. bpe: the merges of BPE.
        For unigram models.
    prefix_recovery : bool, default False
        If a substring is not a valid seed piece, use its longest valid prefix. For unigram models.
    seed_factor : float, 0 or more, default 0
        Number of seed pieces, as a multiple of vocab_size; 0 means that seed_sentencepiece_size
        decides. For unigram models.
    objective : {'likelihood', 'fewest_tokens'}, default 'likelihood'
        likelihood: EM over all segmentations. fewest_tokens: hard EM over the segmentations with
        the fewest pieces, using the most probable of them; prunes once, by usage. For unigram
        models.
    drop_unused : bool, default False
        With objective=fewest_tokens, drop in each step the pieces that no best segmentation uses,
        except required characters, as the published code of MinGram does. The final vocabulary may
        be smaller than vocab_size: see hard_vocab_limit. For unigram models.
    m_step : {'digamma', 'ml'}, default 'digamma'
        How the M-step estimates scores from expected counts; ml means maximum likelihood. For
        unigram models.
    early_prune_threshold : float, 0 or more, default 0.5
        In the M-step, drop the pieces whose expected count is below this value, and raise the
        counts of the remaining pieces to at least 0.01. The last EM steps drop no pieces; above 0.5
        or with prune=flat, no step drops required characters. The counts of pieces that cannot be
        dropped are raised to at least 0.5. For unigram models.
    prune : {'likelihood', 'flat', 'exact'}, default 'likelihood'
        Which pieces each pruning keeps. likelihood: the pieces whose loss would be largest. flat:
        the required characters and the pieces with the highest scores. exact: like likelihood, but
        the loss is that of the best segmentation of the text without the piece. For unigram models.
    prune_overshoot : float, 1 or more, default 1.1
        End EM and pruning at this multiple of vocab_size, and then drop the pieces with the lowest
        scores. For unigram models.
    final_estimate : str, default 'none'
        How to estimate the final scores. none: do not estimate them again. renormalize: scale the
        probabilities so that they sum to 1. em:N: run N more EM steps. For unigram models.
    space_pieces : {'prefix', 'separate', 'dropped'}, default 'prefix'
        How to treat spaces. prefix: a space belongs to the piece after it. separate: each space is
        a separate piece, and there is no dummy prefix. dropped: like separate, but the space has
        the last id and is not counted in vocab_size, so you can remove it from encoded text. For
        unigram and bpe models.
    dump : path
        Write tables of all steps to this new folder: the pieces with their scores and counts, and
        why pieces were dropped; for bpe, the merges with their counts. For unigram and bpe models.
    dump_format : {'tsv', 'parquet'}, default 'tsv'
        The format of the tables that dump writes; parquet needs the pyarrow package. For unigram
        and bpe models.
    on_round : callable
        Call this function with a Step after each step, in the thread of the caller; a Step contains
        what dump writes. If the function raises an exception, nothing is written, and the caller
        gets the exception. For unigram and bpe models.
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
    from spmcompat.options.from_keywords import from_values
    from spmcompat.options.job import make_job

    make_lists(given)
    check_sentences(sentence_iterator)
    _run(make_job(from_values(given), sentence_iterator, model_writer), logstream)


def _run(job: Job, logstream: TextIO | None) -> None:
    from spmcompat.runtime.progress import Report
    from spmcompat.training import run

    run(job, Report(job.min_log_level, logstream, job.progress))


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
        from spmcompat.options.from_keywords import from_kwargs, from_string
        from spmcompat.options.job import make_job

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
