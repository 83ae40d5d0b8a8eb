"""The options that ``sentencepiece`` does not have: off by default, and not stored in a model.

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
    EXTENSION,
    FLOAT,
    INT32,
    OBJECT,
    SETTINGS,
    TEXT,
    UINT64,
    UNIGRAM,
    Option,
)
from spmcompat.releases import DEFAULT, RELEASES

_EM = (UNIGRAM,)

MOST_WORKERS = 1024
"""The largest number of workers: each one needs memory of its own."""

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
"""Options that belong together, under one name."""

SPACE_PIECES = ("prefix", "separate", "dropped")
"""The treatments of spaces. With all but the first, a space is a separate piece."""

_extension = partial(Option, in_reference=False)

EXTENSIONS = (
    _extension(
        "input_column",
        TEXT,
        "The field of JSON Lines, or the column of Parquet files, that holds the text; by default "
        "text, or the only column of strings of a Parquet file.",
        SETTINGS,
        default="",
    ),
    _extension(
        "split_lines",
        BOOL,
        "Every line of a record is a sentence. Otherwise a record of JSON Lines, a row of Parquet "
        "or of Arrow data, or an item of an iterator is one, with its line breaks.",
        SETTINGS,
        default=False,
    ),
    _extension(
        "skip_bad_records",
        BOOL,
        "Leave out the lines of JSON Lines that cannot be read, and say how many they are.",
        SETTINGS,
        default=False,
    ),
    _extension(
        "workers",
        INT32,
        "Number of real threads; by default one for each core. It changes the time only, "
        "never the result (num_threads does).",
        SETTINGS,
        least=1,
        most=MOST_WORKERS,
    ),
    _extension(
        "sampling_seed",
        UINT64,
        "Seed of the random sample that input_sentence_size draws, and of the lines that "
        "self_test_sample_size draws without random_seed.",
        SETTINGS,
        default=12345678,
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
        "Train from the counts that spmcompat count made of a text, instead of from --input. The "
        "options of reading and normalizing are those of the counts.",
        ELSEWHERE,
    ),
    _extension(
        "column",
        TEXT,
        "The column of a table that sentence_iterator is; by default text, or the only column that "
        "holds strings.",
        ELSEWHERE,
        flag=False,
    ),
    _extension(
        "recipe",
        CHOICE,
        "Sets several of the options below. An option that you also give yourself wins. "
        "paper: the seed pieces of Land and Pinter. fsp: also their flat score pruning. "
        "mingram: the fewest tokens (arXiv 2606.27019).",
        ELSEWHERE,
        choices=tuple(RECIPES),
    ),
    _extension(
        "seed_mode",
        CHOICE,
        "Where the seed pieces come from. full_text: substrings that branch in the text. "
        "pretokens: substrings that branch in the distinct segments, and whole segments. "
        "bpe: the merges of BPE.",
        EXTENSION,
        default="full_text",
        choices=("full_text", "pretokens", "bpe"),
        models=_EM,
    ),
    _extension(
        "prefix_recovery",
        BOOL,
        "If a substring is not a valid seed piece, use its longest valid prefix.",
        EXTENSION,
        default=False,
        models=_EM,
    ),
    _extension(
        "seed_factor",
        FLOAT,
        "Number of seed pieces, as a multiple of vocab_size; 0 means that "
        "seed_sentencepiece_size decides.",
        EXTENSION,
        default=0.0,
        least=0,
        models=_EM,
    ),
    _extension(
        "objective",
        CHOICE,
        "likelihood: EM over all segmentations. fewest_tokens: hard EM over the segmentations "
        "with the fewest pieces, of which the most probable one counts; one pruning, by use.",
        EXTENSION,
        default="likelihood",
        choices=("likelihood", "fewest_tokens"),
        models=_EM,
    ),
    _extension(
        "drop_unused",
        BOOL,
        "With objective=fewest_tokens, each step drops the pieces that no best segmentation uses, "
        "except required characters, as the published code of MinGram does. The vocabulary may "
        "end smaller than vocab_size: see hard_vocab_limit.",
        EXTENSION,
        default=False,
        models=_EM,
    ),
    _extension(
        "m_step",
        CHOICE,
        "How the M-step estimates scores from expected counts; ml means maximum likelihood.",
        EXTENSION,
        default="digamma",
        choices=("digamma", "ml"),
        models=_EM,
    ),
    _extension(
        "early_prune_threshold",
        FLOAT,
        "The M-step drops pieces whose expected count is below this. Above 0.5, required "
        "characters stay. Counts of the other pieces that stay are raised to at least 0.01; those "
        "of required characters, and of all pieces in the last EM steps, to 0.5.",
        EXTENSION,
        default=0.5,
        least=0,
        models=_EM,
    ),
    _extension(
        "prune",
        CHOICE,
        "What a pruning keeps. likelihood: the pieces whose loss would be largest. flat: the "
        "required characters and the pieces with the highest scores. exact: as likelihood, but "
        "the loss is that of the best segmentation of the text without the piece.",
        EXTENSION,
        default="likelihood",
        choices=("likelihood", "flat", "exact"),
        models=_EM,
    ),
    _extension(
        "prune_overshoot",
        FLOAT,
        "EM and pruning end at this multiple of vocab_size; then the pieces with the lowest "
        "scores are dropped.",
        EXTENSION,
        default=1.1,
        least=1,
        models=_EM,
    ),
    _extension(
        "final_estimate",
        CHOICE,
        "How to estimate the final scores. none: not again. renormalize: scale the "
        "probabilities so that they sum to 1. em:N: N more steps of EM.",
        EXTENSION,
        default="none",
        choices=("none", "renormalize", "em:N"),
        least=1,
        most=1000,
        models=_EM,
    ),
    _extension(
        "space_pieces",
        CHOICE,
        "prefix: a space is part of the piece that it begins. separate: each space is a piece "
        "of its own, and there is no dummy prefix. dropped: as separate, but the space is the "
        "last id and does not count into vocab_size, so that you can drop it from what is encoded.",
        EXTENSION,
        default="prefix",
        choices=SPACE_PIECES,
        models=(UNIGRAM, BPE),
    ),
    _extension(
        "dump",
        TEXT,
        "A new folder for tables of all steps: the pieces with their scores and counts, and why "
        "pieces were dropped. For bpe, the merges with their counts.",
        EXTENSION,
        default="",
        models=(UNIGRAM, BPE),
    ),
    _extension(
        "dump_format",
        CHOICE,
        "The format of these tables; parquet needs the package pyarrow.",
        EXTENSION,
        default="tsv",
        choices=("tsv", "parquet"),
        models=(UNIGRAM, BPE),
    ),
    _extension(
        "on_round",
        OBJECT,
        "A function that is called with a Round after each step: what dump writes, as an object. "
        "An exception that it raises ends the training.",
        ELSEWHERE,
        models=(UNIGRAM, BPE),
        flag=False,
    ),
)


def with_recipe(options: Mapping[str, object]) -> tuple[dict[str, object], str]:
    """Replace the option ``recipe`` with the options that the recipe sets.

    Options that are given explicitly keep their values.

    Parameters
    ----------
    options : mapping
        Options by name.

    Returns
    -------
    options : dict
        The options without ``recipe``, with what it sets.
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
