"""The tables of papers: the flags with which to train, and the published results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

Flags = Mapping[str, str]


class Change(NamedTuple):
    """A change from the baseline in percent, as the mean over all languages."""

    loss: float
    tokens: float


class Variant(NamedTuple):
    """A row of a table: flags to add to those of the baseline, and the published change, if any."""

    label: str
    flags: Flags
    published: Change | None = None


class Table(NamedTuple):
    """One table of a paper.

    `published_for` describes the texts and sizes of the published results.
    """

    title: str
    published_for: str
    baseline: Flags
    variants: tuple[Variant, ...]


PIECES = 32_768
PAPER: Flags = {"recipe": "paper", "pretokenizer": "script"}
"""The paper cuts a text by script. Its seeds have at most 16 characters, which is our default."""
_LARGE = "300 MB of each of six languages, 32k pieces"


def _alpha(value: str, loss: float, tokens: float) -> Variant:
    return Variant(f"alpha {value}", {"shrinking_factor": value}, Change(loss, tokens))


def _overshoot(value: str, loss: float, tokens: float) -> Variant:
    return Variant(f"k {value}", {"prune_overshoot": value}, Change(loss, tokens))


def _flat(value: str, loss: float, tokens: float) -> Variant:
    flags = {"recipe": "fsp", "shrinking_factor": value}
    return Variant(f"FSP, alpha {value}", flags, Change(loss, tokens))


TABLES: Mapping[str, Table] = {
    "seeds": Table(
        "Seed modes",
        "30 MB of each of six languages, 32k pieces",
        PAPER,
        (
            Variant("full text", {"seed_mode": "full_text"}, Change(0.60, 0.94)),
            Variant(
                "full text, recovery",
                {"seed_mode": "full_text", "prefix_recovery": "true"},
                Change(0.04, -0.01),
            ),
            Variant("pretokens, recovery", {"prefix_recovery": "true"}, Change(0.03, -0.02)),
        ),
    ),
    "loop": Table(
        "EM and pruning",
        _LARGE,
        PAPER,
        (
            Variant("1 EM step", {"num_sub_iterations": "1"}, Change(0.02, 0.02)),
            Variant("3 EM steps", {"num_sub_iterations": "3"}, Change(0.0, 0.0)),
            Variant("5 EM steps", {"num_sub_iterations": "5"}, Change(0.0, 0.0)),
            Variant("no digamma", {"m_step": "ml"}, Change(-0.01, 0.0)),
            Variant("threshold 0", {"early_prune_threshold": "0"}, Change(0.0, 0.0)),
            Variant("threshold 2", {"early_prune_threshold": "2"}, Change(0.02, 0.0)),
            Variant("threshold 10", {"early_prune_threshold": "10"}, Change(0.0, -0.03)),
            _alpha("0.5", 0.15, -0.04),
            _alpha("0.9", -0.07, 0.03),
            _alpha("0.95", -0.09, 0.03),
        ),
    ),
    "overshoot": Table(
        "Overshoot k",
        _LARGE,
        PAPER,
        (
            _overshoot("1.0", -0.30, 0.15),
            _overshoot("1.25", 0.45, -0.10),
            _overshoot("1.5", 0.98, -0.24),
            _overshoot("2.0", 1.76, -0.31),
        ),
    ),
    "factor": Table(
        "Seed factor",
        _LARGE,
        PAPER,
        (
            Variant("factor 3", {"seed_factor": "3"}, Change(1.11, 0.57)),
            Variant("factor 25", {"seed_factor": "25"}, Change(-0.02, -0.02)),
            Variant("factor 50", {"seed_factor": "50"}, Change(-0.02, -0.02)),
            Variant("factor 100", {"seed_factor": "100"}, Change(-0.02, -0.02)),
        ),
    ),
    "fsp": Table(
        "Flat score pruning",
        _LARGE,
        PAPER,
        (
            _flat("0", 1.13, 0.18),
            _flat("0.25", 0.85, -0.48),
            _flat("0.5", 0.78, -0.57),
            _flat("0.75", 0.70, -0.60),
            _flat("0.9", 0.66, -0.60),
            _flat("0.95", 0.65, -0.60),
        ),
    ),
    "tokens": Table(
        "The fewest tokens",
        "MinGram: 1 to 2 percent fewer tokens than Unigram",
        PAPER,
        (
            Variant("MinGram", {"recipe": "mingram"}),
            Variant("MinGram, 1.1", {"recipe": "mingram", "seed_factor": "1.1"}),
            Variant("BPE", {"recipe": "", "model_type": "bpe"}),
            Variant("Unigram, BPE seeds", {"seed_mode": "bpe", "seed_factor": "1.5"}),
        ),
    ),
    "exact": Table(
        "Exact losses (nothing published)",
        "",
        PAPER,
        (Variant("exact", {"prune": "exact"}),),
    ),
}

SPACES_ROWS: Mapping[str, Flags] = {
    **{
        f"{model_type}, {spaces}": {"model_type": model_type, "space_pieces": spaces}
        for model_type in ("unigram", "bpe")
        for spaces in ("prefix", "separate")
    },
    "unigram, paper": {"model_type": "unigram", "recipe": "paper"},
    "unigram, FSP": {"model_type": "unigram", "recipe": "fsp"},
}
"""The rows of the table of boundaries in English words."""

VOCABULARY_PAIRS = (("bpe, prefix", "bpe, separate"), ("unigram, prefix", "unigram, separate"))
"""The models whose vocabularies are compared. The names are those of `SPACES_ROWS`."""

WORDS_ROWS: Mapping[str, Flags] = {
    "baseline": PAPER,
    "FSP": {**PAPER, "recipe": "fsp"},
    "BPE": {**PAPER, "recipe": "", "model_type": "bpe"},
}
"""The models by which gold words are grouped, according to which of them find the boundaries."""


class Boundaries(NamedTuple):
    """Published boundary scores: the mean number of tokens, and precision and F1 in percent."""

    length: float
    precision: float
    f1: float


def _boundaries(*rows: tuple[float, float, float]) -> Mapping[str, Boundaries]:
    labels = ("bpe, prefix", "bpe, separate", "unigram, prefix", "unigram, separate")
    return {label: Boundaries(*row) for label, row in zip(labels, rows, strict=True)}


PUBLISHED_BOUNDARIES: Mapping[tuple[str, str], Mapping[str, Boundaries]] = {
    ("LADEC", ""): _boundaries(
        (2.98, 41.2, 54.8), (2.60, 53.8, 66.2), (2.80, 51.9, 66.8), (2.67, 56.7, 70.9)
    ),
    ("MorphoLex", ""): _boundaries(
        (2.67, 43.4, 49.5), (2.47, 50.8, 54.7), (2.56, 58.1, 64.3), (2.65, 53.9, 61.2)
    ),
    ("MorphyNet", ""): _boundaries(
        (3.17, 19.9, 29.0), (2.93, 24.6, 34.8), (3.09, 32.3, 46.6), (3.03, 33.6, 48.1)
    ),
    ("DagoBERT", ""): _boundaries(
        (3.22, 28.4, 38.6), (2.86, 37.4, 48.0), (3.16, 45.3, 61.1), (2.81, 54.5, 69.2)
    ),
    ("MorphoLex", "prefixes"): _boundaries(
        (2.54, 33.5, 40.2), (2.26, 50.4, 55.4), (2.51, 53.4, 63.6), (2.48, 57.2, 67.4)
    ),
    ("MorphoLex", "suffixes"): _boundaries(
        (2.33, 12.0, 20.6), (2.17, 14.4, 24.4), (2.22, 15.9, 26.9), (2.39, 14.1, 24.4)
    ),
}
"""Gow-Smith et al., Tables 1 and 2, by the format and the subset of the gold list."""


class Vocabulary(NamedTuple):
    """Published counts of the distinct texts of a model's pieces, without space marks.

    `texts` counts all of them; `only_here`, those that the other model of the comparison lacks;
    `prefixes` and `suffixes`, those that are affixes, such as ``un-`` and ``-ness``.
    """

    texts: int
    only_here: int
    prefixes: int
    suffixes: int


PUBLISHED_VOCABULARIES: Mapping[str, Vocabulary] = {
    "bpe, prefix": Vocabulary(14_613, 1_459, 114, 182),
    "bpe, separate": Vocabulary(15_997, 2_843, 123, 192),
    "unigram, prefix": Vocabulary(14_544, 1_443, 123, 201),
    "unigram, separate": Vocabulary(15_997, 2_896, 116, 147),
}
"""Gow-Smith et al., Table 4."""

PUBLISHED_GROUPS: Mapping[str, tuple[int, float]] = {
    "all": (258, 9.5),
    "only baseline": (443, 6.8),
    "only FSP": (111, 1.3),
    "only BPE": (68, 0.8),
    "none": (1_000, 12.6),
}
"""Land and Pinter, Table 7: number of words of MorphScore, version 2, and percent of the text."""

LANGUAGES: Mapping[str, tuple[str, ...]] = {
    "en": ("en-books",),
    "de": ("de-gesetze", "de-docs"),
    "ko": ("ko-nsmc",),
    "zh": ("zh-laws",),
    "ar": ("ar-hindawi",),
    "hi": ("hi-stories",),
}
"""The texts of each language, if the folder has the texts of our benchmarks."""

OTHER_TEXTS: Mapping[str, tuple[str, str]] = {
    "en": ("en-books", "en-docs"),
    "de": ("de-gesetze", "de-docs"),
    "ko": ("ko-nsmc", "ko-docs"),
    "zh": ("zh-laws", "zh-docs"),
    "ar": ("ar-hindawi", "ar-hindawi"),
    "hi": ("hi-stories", "hi-courses"),
}
"""A text of each language to train on, and another text to measure. Arabic has only one: books."""


class Transfer(NamedTuple):
    """The published results for one vocabulary size, on the training text and on another text.

    `changes` contains, for each method except the baseline, the changes of the number of tokens on
    the two texts in percent. `morph_scores` contains the score of each method on English words.
    """

    pieces: int
    changes: Mapping[str, tuple[float, float]]
    morph_scores: Mapping[str, float]


METHODS: Mapping[str, Flags] = {
    "baseline": PAPER,
    "FSP": {**PAPER, "recipe": "fsp"},
    "BPE": {**PAPER, "recipe": "", "model_type": "bpe"},
}
"""The methods in the table of three vocabulary sizes."""


TRANSFER = (
    Transfer(
        16_384,
        {"FSP": (-0.8, -1.4), "BPE": (-0.4, -1.5)},
        {"baseline": 0.620, "FSP": 0.497, "BPE": 0.221},
    ),
    Transfer(
        32_768,
        {"FSP": (-0.6, -1.2), "BPE": (-0.3, -1.3)},
        {"baseline": 0.611, "FSP": 0.514, "BPE": 0.186},
    ),
    Transfer(
        65_536,
        {"FSP": (-0.6, -1.1), "BPE": (-0.4, -1.4)},
        {"baseline": 0.644, "FSP": 0.559, "BPE": 0.165},
    ),
)
"""Land and Pinter, Table 2: 300 MB of each of six languages; the other text is FineWiki."""
