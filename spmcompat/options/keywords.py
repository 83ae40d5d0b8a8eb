"""The types of the keywords of Python functions, for type checkers and editors.

Only type checkers import this module.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Literal, Protocol, TypeAlias, TypedDict

from spmcompat.model.writers import Writers
from spmcompat.runtime.rounds import OnRound
from spmcompat.stored_counts.table import CountTable
from spmcompat.text.arrow_producers import Sentences

StrPath: TypeAlias = str | os.PathLike[str]
Pretokenizer: TypeAlias = Callable[[str], Sequence[str | bytes]] | str


class Normalizer(Protocol):
    """A normalizer of the ``sentencepiece`` package, or another object with this method."""

    def serialized_normalizer_spec(self) -> bytes:
        """Return the normalizer's ``NormalizerSpec``, serialized."""


# Written by python -m derive.options:

Compat: TypeAlias = Literal["0.2.0", "0.2.1", "0.2.2", "0.2.3"]
DumpFormat: TypeAlias = Literal["tsv", "parquet"]
InputFormat: TypeAlias = Literal["auto", "text", "tsv", "jsonl", "csv", "parquet", "arrow"]
LongSentences: TypeAlias = Literal["skip", "split"]
MStep: TypeAlias = Literal["digamma", "ml"]
ModelType: TypeAlias = Literal["unigram", "bpe", "word", "char"]
NormalizationRuleName: TypeAlias = Literal[
    "nmt_nfkc",
    "nfkc",
    "nmt_nfkc_cf",
    "nfkc_cf",
    "identity",
    "nmt_nfkc_strip_accents",
    "nmt_nfkc_cf_strip_accents",
    "nmt_nfkc_mark_case",
]
Objective: TypeAlias = Literal["likelihood", "fewest_tokens"]
Progress: TypeAlias = Literal["bar", "json"]
Prune: TypeAlias = Literal["likelihood", "flat", "exact"]
Recipe: TypeAlias = Literal["paper", "fsp", "mingram"]
SeedMode: TypeAlias = Literal["full_text", "pretokens", "bpe"]
SpacePieces: TypeAlias = Literal["prefix", "separate", "dropped"]


class TextOptions(TypedDict, total=False):
    """The text options of `extend` and `trim` that the signatures of the functions do not name."""

    input_format: InputFormat
    input_sentence_size: int
    shuffle_input_sentence: bool
    max_sentence_length: int
    pretokenizer: Pretokenizer
    minloglevel: int
    progress: Progress
    input_column: str
    split_lines: bool
    long_sentences: LongSentences
    skip_bad_records: bool
    strict: bool
    workers: int
    sampling_seed: int
    column: str


class _NormalizingOptions(TypedDict, total=False):
    model_type: ModelType
    byte_fallback: bool
    split_by_whitespace: bool
    treat_whitespace_as_suffix: bool
    allow_whitespace_only_pieces: bool
    pretokenization_delimiter: str
    allow_inconsistent_pretokenization: bool
    normalization_rule_name: NormalizationRuleName
    normalization_rule_tsv: StrPath
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    normalizer: Normalizer
    unk_id: int
    bos_id: int
    eos_id: int
    pad_id: int
    unk_piece: str
    bos_piece: str
    eos_piece: str
    pad_piece: str
    compat: Compat
    space_pieces: SpacePieces


class PartOptions(_NormalizingOptions, total=False):
    """The options of `arrow_counter`."""

    max_sentence_length: int
    pretokenizer: Pretokenizer
    control_symbols: Sequence[str]
    user_defined_symbols: Sequence[str]
    minloglevel: int
    long_sentences: LongSentences


class CountOptions(TextOptions, _NormalizingOptions, total=False):
    """The options of `count` that its signature does not name."""

    control_symbols: Sequence[str]
    user_defined_symbols: Sequence[str]


class OldOptions(TypedDict, total=False):
    """The keywords ``name``, ``escape_whitespaces`` and those that the newest release ignores."""

    name: NormalizationRuleName
    escape_whitespaces: bool
    accept_language: str | list[str]
    self_test_sample_size: int
    mining_sentence_size: int
    training_sentence_size: int
    train_extremely_large_corpus: bool
    enable_differential_privacy: bool
    differential_privacy_noise_level: float
    differential_privacy_clipping_threshold: int


class SentencePieceOptions(TextOptions, _NormalizingOptions, OldOptions, total=False):
    """The keywords of ``SentencePieceTrainer.train``.

    As in ``sentencepiece``, a ``list`` is read item by item, but other sequences are not. A text
    given for an option that is a list is split at its commas.
    """

    input: StrPath | list[str] | list[StrPath]
    sentence_iterator: Sentences
    sentence_reader: Sentences
    model_prefix: StrPath
    model_writer: Writers
    vocabulary_output_piece_score: bool
    character_coverage: float
    required_chars: str
    auto_character_coverage: bool
    vocab_size: int | Sequence[int]
    hard_vocab_limit: bool
    use_all_vocab: bool
    max_sentencepiece_length: int
    split_by_unicode_script: bool
    split_by_number: bool
    split_digits: bool
    denormalization_rule_tsv: StrPath
    control_symbols: str | list[str]
    user_defined_symbols: str | list[str]
    unk_surface: str
    num_threads: int
    num_sub_iterations: int
    shrinking_factor: float
    seed_sentencepiece_size: int
    seed_sentencepieces_file: StrPath
    use_sparse_pruning: bool
    post_l1_debias: bool
    seed_piece_length_power: float
    min_freq_alpha: float
    counts: CountTable | StrPath
    language_counts: Sequence[CountTable | StrPath]
    language_development: Sequence[CountTable | StrPath]
    language_ratios: Sequence[float]
    language_first_merges: int
    language_window: int
    language_alpha: float
    recipe: Recipe
    seed_mode: SeedMode
    prefix_recovery: bool
    seed_factor: float
    objective: Objective
    drop_unused: bool
    m_step: MStep
    early_prune_threshold: float
    prune: Prune
    prune_overshoot: float
    final_estimate: str
    dump: StrPath
    dump_format: DumpFormat
    on_round: OnRound
