"""The options of ``sentencepiece``, by group. The messages also have ``quiet`` and ``progress``."""

from spmcompat.normalization.rules import NAMES, OWN_NAMES
from spmcompat.options.named_rules import DEFAULT_RULES
from spmcompat.options.option import (
    BOOL,
    BPE,
    BYTES,
    CHAR,
    CHOICE,
    DENORMALIZER,
    ELSEWHERE,
    FILE,
    FLOAT,
    INT32,
    LIST,
    MODEL_TYPE,
    NORMALIZER,
    OBJECT,
    PATH,
    SETTINGS,
    TEXT,
    UINT32,
    UINT64,
    UNIGRAM,
    WORD,
    Option,
)
from spmcompat.releases import RELEASES
from spmcompat.text.formats import AUTO, FORMATS, RECORDS, listed, titles

_FILE = "A file in UTF-8 with one %s on each line."
_TRAINED = (UNIGRAM, BPE)
_EM = (UNIGRAM,)
_AUTO = "--auto_character_coverage"
_SUFFIXES = ", ".join(FORMATS[name].suffixes[0] for name in RECORDS)
_RULES = (*NAMES, "identity", *OWN_NAMES)
_NO_PRETOKENIZER = {"models": "PretokenizerForTraining is only supported in UNIGRAM or BPE mode."}

REFERENCE_OPTIONS: dict[str, tuple[Option, ...]] = {
    "Input and output": (
        Option(
            "input",
            LIST,
            "Files to train on, separated by commas; a line is a sentence. Also: compressed files "
            f"(.gz, .zst, .xz, .bz2), tables ({_SUFFIXES}; .csv only with input_column), "
            "patterns such as data/*.txt, "
            "- for standard input, and addresses such as s3://bucket/a.txt.",
            selects_text=True,
            python_type="StrPath | Sequence[StrPath]",
            python_help="Files to train on, in order. Give either `input` or `sentence_iterator`. "
            f"Text files may be compressed; {titles(RECORDS, 'and')} files, patterns such as "
            "``data/*.txt``, ``-`` for standard input, and addresses such as "
            "``s3://bucket/a.txt`` are accepted, too.",
        ),
        Option(
            "sentence_iterator",
            OBJECT,
            "Sentences to train on, instead of files: an iterable of str or bytes, or Arrow data.",
            ELSEWHERE,
            flag=False,
            python_type="Sentences",
            python_help="Sentences to train on. A line break at the end of a sentence is removed. "
            "If the first item is a list, such as a batch of a data set, its items are sentences. "
            "Arrow data can be any object with ``__arrow_c_stream__`` or ``__arrow_c_array__``, "
            "such as tables, columns and readers of pyarrow, polars, pandas, DuckDB and nanoarrow, "
            "or an iterable of them; a ``LazyFrame`` of polars; a ``Dataset``, ``Scanner``, "
            "``ParquetFile`` or file reader of pyarrow; and a Hugging Face data set. The strings "
            "of Arrow data are read without making Python objects; nulls are skipped.",
        ),
        Option(
            "sentence_reader",
            OBJECT,
            "Another name for sentence_iterator.",
            ELSEWHERE,
            flag=False,
            python_type="Sentences",
        ),
        Option(
            "input_format",
            TEXT,
            "Format of the input: 'text', or 'tsv' with a text, a tab and its count on each line; "
            f"{listed([repr(name) for name in RECORDS])}; or 'auto' (the default), which chooses "
            "by the name of each file.",
            selects_text=True,
            choices=(AUTO, *FORMATS),
        ),
        Option(
            "model_prefix",
            PATH,
            "Write the model to the files PREFIX.model and PREFIX.vocab, where PREFIX is this "
            "value.",
        ),
        Option(
            "model_writer",
            OBJECT,
            "An object whose method write receives the model, instead of files. If vocab_size is a "
            "list: a list with a writer for each size, or a function that returns the writer of a "
            "size, which is called after all models are trained.",
            ELSEWHERE,
            flag=False,
            python_type="Writers",
        ),
        Option(
            "vocabulary_output_piece_score", BOOL, "Write the score of each piece to PREFIX.vocab."
        ),
    ),
    "Which sentences and characters": (
        Option(
            "input_sentence_size",
            UINT64,
            "Maximum number of sentences to train on, more than 100; 0 means all.",
            selects_text=True,
        ),
        Option(
            "shuffle_input_sentence",
            BOOL,
            "With input_sentence_size, draw sentences at random; otherwise, take the first ones.",
            selects_text=True,
        ),
        Option(
            "max_sentence_length",
            INT32,
            "Maximum length of a sentence in bytes; longer sentences are skipped.",
            least=10,
            most=2**30,
        ),
        Option(
            "character_coverage",
            FLOAT,
            "Share of the characters of the text that the vocabulary must cover. Rarer characters "
            "become unknown.",
            least=0.98,
            most=1.0,
        ),
        Option(
            "required_chars", TEXT, "Characters to keep in the vocabulary, however rare they are."
        ),
        Option(
            "required_chars_file",
            FILE,
            "A file in UTF-8 with the required characters. It replaces required_chars.",
            ELSEWHERE,
            keyword=False,
        ),
        Option(
            "auto_character_coverage",
            BOOL,
            "Do not require characters: they compete with the other pieces for the vocabulary. "
            "Needs byte_fallback; unigram also needs use_sparse_pruning.",
            models=_TRAINED,
            needs=("use_sparse_pruning", "byte_fallback"),
            excludes=("required_chars", "language_counts"),
            refusals={
                "models": f"{_AUTO} is only supported in UNIGRAM or BPE model mode.",
                "use_sparse_pruning": f"{_AUTO} in UNIGRAM mode requires "
                "--use_sparse_pruning=true.",
                "byte_fallback": f"{_AUTO} requires --byte_fallback=true.",
                "required_chars": f"{_AUTO} cannot be used together with --required_chars or "
                "--required_chars_file.",
            },
        ),
    ),
    "Model": (
        Option("model_type", MODEL_TYPE, "The algorithm.", choices=(UNIGRAM, BPE, WORD, CHAR)),
        Option(
            "vocab_size",
            INT32,
            "Size of the vocabulary, including the reserved pieces and symbols. Several sizes, "
            "such as 8000,16000 (in Python, a list), are trained in one run, which writes "
            "PREFIX-8000.model, PREFIX-16000.model and so on, as separate runs would. Either all "
            "models are written or none.",
            least=1,
            python_type="int | Sequence[int]",
        ),
        Option(
            "hard_vocab_limit",
            BOOL,
            "Fail if the text yields fewer pieces than vocab_size; if false, write fewer pieces.",
        ),
        Option(
            "use_all_vocab",
            BOOL,
            "Put all words or characters of the text into the vocabulary.",
            models=(WORD, CHAR),
            refusals={"models": "--use_all_vocab=true is valid for WORD/CHAR model."},
        ),
        Option(
            "byte_fallback",
            BOOL,
            "Add a piece for each of the 256 bytes. Unknown characters are split into them.",
        ),
    ),
    "What a piece may contain": (
        Option(
            "max_sentencepiece_length",
            INT32,
            "Maximum length of a piece in characters.",
            least=1,
            most=512,
            models=_TRAINED,
        ),
        Option(
            "split_by_unicode_script",
            BOOL,
            "Do not mix characters of different Unicode scripts in a piece.",
            models=_TRAINED,
        ),
        Option(
            "split_by_number",
            BOOL,
            "Do not mix digits with other characters in a piece. Has an effect only with "
            "split_by_unicode_script.",
            models=_TRAINED,
        ),
        Option(
            "split_by_whitespace", BOOL, "Do not let a piece cross white space.", models=_TRAINED
        ),
        Option("split_digits", BOOL, "Make each digit a separate piece.", models=_TRAINED),
        Option(
            "treat_whitespace_as_suffix",
            BOOL,
            "Put white space at the end of a piece, not at its beginning.",
            excludes=("pretokenizer=script",),
            refusals={
                "pretokenizer=script": "pretokenizer=script joins a space to the text after it, so "
                "it cannot be set together with treat_whitespace_as_suffix.",
            },
        ),
        Option(
            "allow_whitespace_only_pieces",
            BOOL,
            "Allow pieces that contain only white space, including several spaces.",
            models=_TRAINED,
        ),
        Option(
            "pretokenization_delimiter",
            TEXT,
            "A delimiter that no piece crosses. It is removed from the sentences before training.",
            models=_TRAINED,
            refusals=_NO_PRETOKENIZER,
        ),
        Option(
            "pretokenizer",
            TEXT,
            "Split each sentence before training; no piece crosses a split. 'script': between "
            "runs of characters of one script and kind. 'regex:PATTERN': where a match of the "
            "pattern starts or ends. In Python, also a function.",
            ELSEWHERE,
            models=_TRAINED,
            excludes=("pretokenization_delimiter",),
            refusals=_NO_PRETOKENIZER
            | {
                "pretokenization_delimiter": "pretokenizer callback and pretokenization_delimiter "
                "cannot be set simultaneously.",
            },
            python_type="Pretokenizer",
            python_help="A function that splits a normalized sentence, with U+2581 for spaces, "
            "into parts: no piece crosses from one part into the next. It is called for every "
            "sentence, perhaps more than once, in any order and in several threads; its result "
            "must depend only on the sentence. Or ``script``: no piece crosses from one run of "
            "characters of one script and kind into the next. Or ``regex:`` and a pattern of the "
            "``regex`` package: no piece crosses the start or end of a match.",
        ),
        Option(
            "allow_inconsistent_pretokenization",
            BOOL,
            "Train even if the parts that the pretokenizer returns do not join to the sentence.",
            ELSEWHERE,
            default=False,
            flag=False,
            models=_TRAINED,
        ),
    ),
    "Normalization": (
        Option(
            "normalization_rule_name",
            TEXT,
            "Rules to normalize the text with: nmt_nfkc, nfkc, nmt_nfkc_cf (with case folding), "
            "nfkc_cf or identity. Only in spmcompat: nmt_nfkc_strip_accents and "
            "nmt_nfkc_cf_strip_accents, which remove accents, and nmt_nfkc_mark_case, which writes "
            "capitals as a mark and a small letter.",
            NORMALIZER,
            "name",
            default=DEFAULT_RULES,
            choices=_RULES,
        ),
        Option(
            "normalization_rule_tsv",
            FILE,
            "A TSV file of rules to use instead of named ones.",
            NORMALIZER,
        ),
        Option(
            "denormalization_rule_tsv",
            FILE,
            "A TSV file of rules to apply to decoded text.",
            DENORMALIZER,
            "normalization_rule_tsv",
        ),
        Option(
            "add_dummy_prefix",
            BOOL,
            "Add a space at the beginning of each sentence (at its end, with "
            "treat_whitespace_as_suffix).",
            NORMALIZER,
        ),
        Option(
            "remove_extra_whitespaces",
            BOOL,
            "Remove leading and trailing white space, and reduce repeated spaces to one.",
            NORMALIZER,
        ),
        Option(
            "normalizer",
            OBJECT,
            "A SentencePieceNormalizer of sentencepiece, or another object with "
            "serialized_normalizer_spec(). It replaces all other options for normalization.",
            ELSEWHERE,
            flag=False,
            python_type="Normalizer",
        ),
        Option(
            "_serialized_normalizer_spec",
            OBJECT,
            "The bytes of a normalizer, instead of the normalizer itself.",
            ELSEWHERE,
            flag=False,
        ),
        Option(
            "name",
            TEXT,
            "Another name for normalization_rule_name.",
            NORMALIZER,
            flag=False,
            python_type="NormalizationRuleName",
        ),
        Option(
            "precompiled_charsmap",
            BYTES,
            "Compiled rules. They cannot be given as text: use normalizer instead.",
            NORMALIZER,
            flag=False,
        ),
        Option(
            "escape_whitespaces",
            BOOL,
            "Replace spaces with U+2581. Required for training.",
            NORMALIZER,
            flag=False,
        ),
    ),
    "Symbols": (
        Option(
            "control_symbols",
            LIST,
            "Control symbols, separated by commas. Encoding never produces them.",
        ),
        Option("control_symbols_file", FILE, _FILE % "control symbol", ELSEWHERE, keyword=False),
        Option(
            "user_defined_symbols",
            LIST,
            "User-defined symbols, separated by commas. In a text, each is always a single piece.",
        ),
        Option(
            "user_defined_symbols_file",
            FILE,
            _FILE % "user-defined symbol",
            ELSEWHERE,
            keyword=False,
        ),
        Option("unk_id", INT32, "Id of the unknown piece; -1 (with byte_fallback) disables it."),
        Option("bos_id", INT32, "Id of the beginning-of-sentence piece; -1 disables it."),
        Option("eos_id", INT32, "Id of the end-of-sentence piece; -1 disables it."),
        Option("pad_id", INT32, "Id of the padding piece; -1 disables it."),
        Option("unk_piece", TEXT, "Name of the unknown piece."),
        Option("bos_piece", TEXT, "Name of the beginning-of-sentence piece."),
        Option("eos_piece", TEXT, "Name of the end-of-sentence piece."),
        Option("pad_piece", TEXT, "Name of the padding piece."),
        Option("unk_surface", TEXT, "The decoded text of the unknown piece."),
    ),
    "Unigram training": (
        Option(
            "num_threads",
            INT32,
            "Fix the order in which float32 numbers are added, which affects the result: "
            "sentencepiece divides the sentences among this many threads, and then adds the sums "
            "of the threads. spmcompat uses the same order, but takes the number of its threads "
            "from workers.",
            least=1,
            most=1024,
            models=_EM,
        ),
        Option(
            "num_sub_iterations",
            INT32,
            "Number of EM steps before each pruning.",
            least=1,
            most=10,
            models=_EM,
        ),
        Option(
            "shrinking_factor",
            FLOAT,
            "Share of the pieces that each pruning keeps: those whose loss would be largest.",
            least=0.5,
            most=0.95,
            models=_EM,
        ),
        Option(
            "seed_sentencepiece_size",
            INT32,
            "Number of seed pieces to start with; 0 means 8 times vocab_size, but at least 100000.",
            models=_EM,
        ),
        Option(
            "seed_sentencepieces_file",
            FILE,
            "A file to load the seed pieces from: a piece, a tab and its count on each line.",
            models=_EM,
            refusals={
                "models": "seed_sentencepieces_file is only supported for UNIGRAM model.",
            },
        ),
        Option(
            "use_sparse_pruning",
            BOOL,
            "Prune with an L1 penalty on the expected counts, in fewer passes.",
            SETTINGS,
            default=False,
            models=_EM,
        ),
        Option(
            "post_l1_debias",
            BOOL,
            "After sparse pruning, estimate the scores once more without the penalty.",
            SETTINGS,
            default=True,
            models=_EM,
        ),
        Option(
            "seed_piece_length_power",
            FLOAT,
            "Seed pieces are ranked by their count times this power of their length.",
            SETTINGS,
            default=1.0,
            models=_EM,
        ),
        Option(
            "min_freq_alpha",
            FLOAT,
            "Drop seed pieces that occur less often than this number times N / (K ln K), for a "
            "text of N bytes and K pieces.",
            SETTINGS,
            default=0.0,
            models=_EM,
        ),
    ),
    "Messages": (
        Option(
            "minloglevel",
            INT32,
            "0 shows all messages, 1 warnings and errors, 2 errors only.",
            SETTINGS,
            "min_log_level",
            default=0,
        ),
        Option(
            "logstream",
            OBJECT,
            "A text stream for the messages; by default standard error, or the program's own "
            "logging.",
            ELSEWHERE,
            flag=False,
            python_type="TextIO",
        ),
        Option(
            "quiet",
            BOOL,
            "Show only the error that ends the run.",
            ELSEWHERE,
            default=False,
            keyword=False,
            in_reference=False,
        ),
        Option(
            "progress",
            CHOICE,
            "How to show the progress. bar: bars on a terminal or in a notebook, log lines "
            "elsewhere. json: lines of JSON, for programs.",
            SETTINGS,
            default="bar",
            choices=("bar", "json"),
            in_reference=False,
        ),
    ),
}

OLD_OPTIONS = (
    Option("accept_language", LIST, "Languages of the text, separated by commas."),
    Option(
        "self_test_sample_size",
        INT32,
        "Number of sentences that the model stores with their pieces, as a self-test.",
        least=0,
        most=1000,
        excludes=("counts",),
        refusals={
            "counts": "self_test_sample_size draws lines of the text, and counts have none.",
        },
    ),
    Option(
        "random_seed",
        UINT32,
        "Seed of the random generator that draws the lines of self_test_sample_size, in "
        + " and ".join(v for v, release in RELEASES.items() if release.sample_is_repeatable)
        + ".",
        ELSEWHERE,
        keyword=False,
    ),
    Option("mining_sentence_size", INT32, "No effect in any release."),
    Option("training_sentence_size", INT32, "No effect in any release."),
    Option("train_extremely_large_corpus", BOOL, "Stored only; large texts do not need it."),
    Option(
        "enable_differential_privacy",
        BOOL,
        "Not supported, because the noise is different in each process.",
    ),
    Option("differential_privacy_noise_level", FLOAT, "See enable_differential_privacy."),
    Option("differential_privacy_clipping_threshold", UINT64, "See enable_differential_privacy."),
)
