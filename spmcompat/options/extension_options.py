"""The options that ``sentencepiece`` does not have.

They are off by default, and models do not store them.

Sources: Land and Pinter, "Which Pieces Does Unigram Tokenization Really Need?", for the seeds, the
loop and flat pruning; Gow-Smith et al. 2022, "Improving Tokenisation by Alternative Treatment of
Spaces", for spaces as separate pieces; "MinGram", arXiv 2606.27019, for the fewest tokens.
"""

from collections.abc import Mapping
from functools import partial

from spmcompat.errors import BadValueError
from spmcompat.options.option import (
    BOOL,
    BPE,
    CHOICE,
    ELSEWHERE,
    FLOAT,
    INT32,
    OBJECT,
    PATH,
    SETTINGS,
    TEXT,
    UINT64,
    UNIGRAM,
    Option,
)
from spmcompat.releases import DEFAULT, RELEASES
from spmcompat.runtime.cores import MOST_WORKERS
from spmcompat.text.formats import RECORDS, TEXT_RECORDS, titles

_EM = (UNIGRAM,)

RECIPES: Mapping[str, Mapping[str, str]] = {
    "paper": {"seed_mode": "pretokens", "seed_factor": "10"},
    "fsp": {
        "seed_mode": "pretokens",
        "seed_factor": "10",
        "prune": "flat",
        "prune_overshoot": "1",
    },
    "mingram": {
        "seed_mode": "bpe",
        "seed_factor": "1.15",
        "objective": "fewest_tokens",
        "drop_unused": "true",
        "hard_vocab_limit": "false",
    },
}
"""For each recipe, the options that it sets."""

LANGUAGE_OPTIONS = ("language_counts", "language_development", "language_ratios")
"""The options of parity-aware BPE that are lists, with an item for each language."""

OPTIONS_WITH_COUNTS = ("counts", *LANGUAGE_OPTIONS)
"""The options that name files of counts, or have an item for each of these files."""

SPACE_PIECES = ("prefix", "separate", "dropped")
"""The values of ``space_pieces``. Except with ``prefix``, a space is a separate piece."""

_extension = partial(Option, in_reference=False)

EXTENSIONS = (
    _extension(
        "input_column",
        TEXT,
        f"Read the text from this field or column of {titles(RECORDS)} files; "
        "by default, the one named text, or else the only column of strings. meta.text means the "
        "field text in the field meta. With this option, .csv files are read as tables.",
        SETTINGS,
        default="",
        selects_text=True,
    ),
    _extension(
        "split_lines",
        BOOL,
        "Treat every line of a record as a sentence. Otherwise, each record of JSON Lines, row of "
        "a table, or item of an iterator is one sentence, including its line breaks; if it is a "
        "list of strings, each string is one sentence.",
        SETTINGS,
        default=False,
        selects_text=True,
    ),
    _extension(
        "long_sentences",
        CHOICE,
        "What to do with a sentence that is longer than max_sentence_length. skip: leave it out. "
        "split: divide it at white space into sentences that are short enough; a word that is too "
        "long is left out.",
        SETTINGS,
        default="skip",
        choices=("skip", "split"),
    ),
    _extension(
        "skip_bad_records",
        BOOL,
        f"Skip the records of {titles(TEXT_RECORDS, 'and')} that cannot be read, and report their "
        "number.",
        SETTINGS,
        default=False,
        selects_text=True,
    ),
    _extension(
        "strict",
        BOOL,
        "Fail if the text contains NUL characters or bytes that are not UTF-8, or if more than a "
        "hundredth of its lines or bytes are skipped because they are too long, null, broken or "
        "contain U+2585. Otherwise, these cause only warnings.",
        SETTINGS,
        default=False,
        excludes=("counts",),
        refusals={"counts": "strict checks the lines of the text, and counts have none."},
    ),
    _extension(
        "workers",
        INT32,
        "Use this number of real threads; by default, one for each core. It affects only the "
        "time, never the result (num_threads does).",
        SETTINGS,
        least=1,
        most=MOST_WORKERS,
    ),
    _extension(
        "sampling_seed",
        UINT64,
        "Seed of the random sample that input_sentence_size draws and, without random_seed, of "
        "the lines that self_test_sample_size draws.",
        SETTINGS,
        default=12345678,
        selects_text=True,
    ),
    _extension(
        "compat",
        CHOICE,
        "The release of sentencepiece to train as.",
        ELSEWHERE,
        default=DEFAULT.version,
        choices=tuple(RELEASES),
    ),
    _extension(
        "counts",
        TEXT,
        "Train from the counts that spmcompat count made of a text, instead of from the text. The "
        "options for reading and normalizing come from the counts.",
        ELSEWHERE,
        python_type="CountTable | StrPath",
    ),
    _extension(
        "language_counts",
        TEXT,
        "Train parity-aware BPE (arXiv 2508.04796) from files of counts, one for each language, "
        "separated by commas: before each merge, the language with the most tokens for its text "
        "chooses its most frequent pair.",
        ELSEWHERE,
        "languages",
        models=(BPE,),
        python_type="Sequence[CountTable | StrPath]",
    ),
    _extension(
        "language_development",
        TEXT,
        "With language_counts, compare the languages by their tokens per sentence in these files "
        "of counts, one for each language in the same order. The texts should be translations of "
        "each other. By default, compare the tokens per character in language_counts.",
        ELSEWHERE,
        "languages",
        models=(BPE,),
        python_type="Sequence[CountTable | StrPath]",
    ),
    _extension(
        "language_ratios",
        TEXT,
        "With language_counts, multiply the number of tokens of each language by its number in "
        "this list; a language with a higher number chooses more merges. By default, each is 1.",
        ELSEWHERE,
        "languages",
        models=(BPE,),
        python_type="Sequence[float]",
    ),
    _extension(
        "language_first_merges",
        INT32,
        "With language_counts, choose this number of merges from all languages together, as plain "
        "BPE does, before the languages choose.",
        SETTINGS,
        default=0,
        least=0,
        models=(BPE,),
        needs=("language_counts",),
    ),
    _extension(
        "language_window",
        INT32,
        "With language_counts, look at this number of latest choices: a language that made more "
        "than language_alpha times the mean of all languages may not choose. 0 turns this off; the "
        "authors' program uses 100.",
        SETTINGS,
        default=0,
        least=0,
        models=(BPE,),
        needs=("language_counts",),
    ),
    _extension(
        "language_alpha",
        FLOAT,
        "See language_window.",
        SETTINGS,
        default=2.0,
        least=1,
        models=(BPE,),
        needs=("language_counts", "language_window"),
    ),
    _extension(
        "column",
        TEXT,
        "The column to read if sentence_iterator is a table; by default, the one named text, or "
        "else the only column of strings. meta.text means the field text in the column meta.",
        ELSEWHERE,
        flag=False,
    ),
    _extension(
        "recipe",
        CHOICE,
        "Set several of the options below. Options that you give yourself take precedence. paper: "
        "the seed pieces of Land and Pinter. fsp: also their flat score pruning. mingram: the "
        "fewest tokens (arXiv 2606.27019).",
        ELSEWHERE,
        choices=tuple(RECIPES),
    ),
    _extension(
        "seed_mode",
        CHOICE,
        "Where the seed pieces come from. full_text: substrings that branch in the text. "
        "pretokens: substrings that branch in the distinct segments, and whole segments. "
        "bpe: the merges of BPE.",
        SETTINGS,
        default="full_text",
        choices=("full_text", "pretokens", "bpe"),
        models=_EM,
        excludes=("seed_sentencepieces_file",),
    ),
    _extension(
        "prefix_recovery",
        BOOL,
        "If a substring is not a valid seed piece, use its longest valid prefix.",
        SETTINGS,
        default=False,
        models=_EM,
        excludes=("seed_sentencepieces_file", "seed_mode=bpe"),
    ),
    _extension(
        "seed_factor",
        FLOAT,
        "Number of seed pieces, as a multiple of vocab_size; 0 means that "
        "seed_sentencepiece_size decides.",
        SETTINGS,
        default=0.0,
        least=0,
        models=_EM,
        excludes=("seed_sentencepieces_file",),
    ),
    _extension(
        "objective",
        CHOICE,
        "likelihood: EM over all segmentations. fewest_tokens: hard EM over the segmentations "
        "with the fewest pieces, using the most probable of them; prunes once, by usage.",
        SETTINGS,
        default="likelihood",
        choices=("likelihood", "fewest_tokens"),
        models=_EM,
        excludes=("use_sparse_pruning",),
    ),
    _extension(
        "drop_unused",
        BOOL,
        "With objective=fewest_tokens, drop in each step the pieces that no best segmentation "
        "uses, except required characters, as the published code of MinGram does. The final "
        "vocabulary may be smaller than vocab_size: see hard_vocab_limit.",
        SETTINGS,
        default=False,
        models=_EM,
        needs=("objective=fewest_tokens",),
    ),
    _extension(
        "m_step",
        CHOICE,
        "How the M-step estimates scores from expected counts; ml means maximum likelihood.",
        SETTINGS,
        default="digamma",
        choices=("digamma", "ml"),
        models=_EM,
        excludes=("use_sparse_pruning", "objective=fewest_tokens"),
    ),
    _extension(
        "early_prune_threshold",
        FLOAT,
        "In the M-step, drop the pieces whose expected count is below this value, and raise the "
        "counts of the remaining pieces to at least 0.01. The last EM steps drop no pieces; above "
        "0.5 or with prune=flat, no step drops required characters. The counts of pieces that "
        "cannot be dropped are raised to at least 0.5.",
        SETTINGS,
        default=0.5,
        least=0,
        models=_EM,
        excludes=("use_sparse_pruning", "objective=fewest_tokens"),
    ),
    _extension(
        "prune",
        CHOICE,
        "Which pieces each pruning keeps. likelihood: the pieces whose loss would be largest. "
        "flat: the required characters and the pieces with the highest scores. exact: like "
        "likelihood, but the loss is that of the best segmentation of the text without the piece.",
        SETTINGS,
        default="likelihood",
        choices=("likelihood", "flat", "exact"),
        models=_EM,
        excludes=("use_sparse_pruning", "objective=fewest_tokens"),
    ),
    _extension(
        "prune_overshoot",
        FLOAT,
        "End EM and pruning at this multiple of vocab_size, and then drop the pieces with the "
        "lowest scores.",
        SETTINGS,
        default=1.1,
        least=1,
        models=_EM,
        excludes=("objective=fewest_tokens",),
    ),
    _extension(
        "final_estimate",
        CHOICE,
        "How to estimate the final scores. none: do not estimate them again. renormalize: scale "
        "the probabilities so that they sum to 1. em:N: run N more EM steps.",
        SETTINGS,
        default="none",
        choices=("none", "renormalize", "em:N"),
        least=1,
        most=1000,
        models=_EM,
        excludes=("objective=fewest_tokens",),
    ),
    _extension(
        "space_pieces",
        CHOICE,
        "How to treat spaces. prefix: a space belongs to the piece after it. separate: each space "
        "is a separate piece, and there is no dummy prefix. dropped: like separate, but the space "
        "has the last id and is not counted in vocab_size, so you can remove it from encoded "
        "text.",
        SETTINGS,
        default="prefix",
        choices=SPACE_PIECES,
        models=(UNIGRAM, BPE),
    ),
    _extension(
        "dump",
        PATH,
        "Write tables of all steps to this new folder: the pieces with their scores and counts, "
        "and why pieces were dropped; for bpe, the merges with their counts.",
        SETTINGS,
        default="",
        models=(UNIGRAM, BPE),
        excludes=("language_counts",),
    ),
    _extension(
        "dump_format",
        CHOICE,
        "The format of the tables that dump writes; parquet needs the pyarrow package.",
        SETTINGS,
        default="tsv",
        choices=("tsv", "parquet"),
        models=(UNIGRAM, BPE),
        needs=("dump",),
    ),
    _extension(
        "on_round",
        OBJECT,
        "Call this function with a Step after each step, in the thread of the caller; a Step "
        "contains what dump writes. If the function raises an exception, nothing is written, and "
        "the caller gets the exception.",
        ELSEWHERE,
        models=(UNIGRAM, BPE),
        flag=False,
        excludes=("language_counts",),
        python_type="OnRound",
    ),
)


def with_recipe(options: Mapping[str, object]) -> tuple[dict[str, object], str]:
    """Replace the ``recipe`` option with the options that the recipe sets.

    Options that are given explicitly keep their values.

    Parameters
    ----------
    options : mapping
        Options by name.

    Returns
    -------
    options : dict
        The options without ``recipe``, but with the options that it sets.
    note : str
        A line that says what the recipe set; empty without a recipe.

    Raises
    ------
    BadValueError
        If there is no such recipe.
    """
    rest = dict(options)
    name = rest.pop("recipe", None)
    if not name:
        return rest, ""
    if name not in RECIPES:
        raise BadValueError(f'there is no recipe "{name}". Choose from {", ".join(RECIPES)}.')
    added = {key: value for key, value in RECIPES[str(name)].items() if key not in rest}
    listed = " ".join(f"--{key}={value}" for key, value in added.items()) or "nothing"
    return {**added, **rest}, f"--recipe={name} sets {listed}"
