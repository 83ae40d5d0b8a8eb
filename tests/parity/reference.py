"""The real library: the only module of the project that imports ``sentencepiece``."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import sentencepiece

from . import pretokenizers
from .case import DEFAULT_RELEASE, WRITER, Case, Option, one_string

VERSION: str = sentencepiece.__version__

COMMAND_LINE_DEFAULTS: Mapping[str, Option] = {
    "input_format": "",
    "model_type": "unigram",
    "vocab_size": 8000,
    "character_coverage": 0.9995,
    "input_sentence_size": 0,
    "shuffle_input_sentence": True,
    "seed_sentencepiece_size": 1000000,
    "seed_sentencepieces_file": "",
    "shrinking_factor": 0.75,
    "num_threads": 16,
    "num_sub_iterations": 2,
    "max_sentencepiece_length": 16,
    "max_sentence_length": 4192,
    "split_by_unicode_script": True,
    "split_by_number": True,
    "split_by_whitespace": True,
    "split_digits": False,
    "pretokenization_delimiter": "",
    "treat_whitespace_as_suffix": False,
    "allow_whitespace_only_pieces": False,
    "required_chars": "",
    "byte_fallback": False,
    "vocabulary_output_piece_score": True,
    "normalization_rule_name": "nmt_nfkc",
    "normalization_rule_tsv": "",
    "add_dummy_prefix": True,
    "remove_extra_whitespaces": True,
    "hard_vocab_limit": True,
    "use_all_vocab": False,
    "unk_id": 0,
    "bos_id": 1,
    "eos_id": 2,
    "pad_id": -1,
    "unk_piece": "<unk>",
    "bos_piece": "<s>",
    "eos_piece": "</s>",
    "pad_piece": "<pad>",
    "unk_surface": " \u2047 ",
}
"""What ``spm_train`` stores whether or not its flag is given, in every release."""

RETIRED_DEFAULTS: Mapping[str, Option] = {
    "self_test_sample_size": 0,
    "train_extremely_large_corpus": False,
    "enable_differential_privacy": False,
    "differential_privacy_noise_level": 0.0,
    "differential_privacy_clipping_threshold": 0,
}
"""The same, of the releases before 0.2.3."""

LINES_FLAGS = ("control_symbols", "user_defined_symbols")
"""Flags with a ``_file`` twin whose lines are appended to the list."""

NOT_STORED = ("random_seed",)
"""Flags of the command line that Python does not take and no model holds."""


def train(case: Case) -> dict[str, bytes]:
    """Train in the current folder; return what a ``model_writer`` received."""
    if case.form == "string":
        sentencepiece.SentencePieceTrainer.train(one_string(case.options))
        return {}
    options: dict[str, Any] = dict(every_field(case) if case.form == "cli" else case.options)
    written = io.BytesIO()
    if case.sentences is not None:
        # The reference takes a true iterator only; ours takes what the case asks for.
        options["sentence_iterator"] = iter(case.handed_sentences())
    if case.writer:
        options["model_writer"] = written
    if case.normalizer is not None:
        options["normalizer"] = normalizer(case.normalizer)
    if case.pretokenizer is not None:
        options["pretokenizer"] = pretokenizers.BY_NAME[case.pretokenizer]
    sentencepiece.SentencePieceTrainer.train(**options)
    return {WRITER: written.getvalue()} if case.writer else {}


def every_field(case: Case) -> dict[str, Option]:
    """Return the keywords that make the Python trainer store what ``spm_train`` stores."""
    newest = {"auto_character_coverage": False}
    own = newest if case.release == DEFAULT_RELEASE else RETIRED_DEFAULTS
    options = {**COMMAND_LINE_DEFAULTS, **own, **case.options}
    for name in NOT_STORED:
        options.pop(name, None)
    for name in LINES_FLAGS:
        path = options.pop(f"{name}_file", "")
        if path:
            given = options.get(name, [])
            assert isinstance(given, list)
            options[name] = given + _lines(str(path))
    path = options.pop("required_chars_file", "")
    if path:
        options["required_chars"] = "".join(_lines(str(path)))
    return options


def _lines(path: str) -> list[str]:
    text = Path(path).read_bytes().decode()
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def schema() -> ModuleType:
    """Return the library's own compiled message classes."""
    from sentencepiece import sentencepiece_model_pb2  # noqa: PLC0415

    return sentencepiece_model_pb2


def normalizer(arguments: Mapping[str, Any]) -> Any:
    """Return the library's own normalizer object."""
    return sentencepiece.SentencePieceNormalizer(**arguments)


def normalize(lines: list[str], **options: Any) -> list[str]:
    """Normalize lines with the library's own normalizer, for tests that start after that stage."""
    rules = normalizer(options)
    return [rules.Normalize(line) for line in lines]


def load(model: bytes) -> Any:
    """Load model bytes as the library's users do."""
    return sentencepiece.SentencePieceProcessor(model_proto=model)
