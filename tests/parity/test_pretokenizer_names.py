"""``pretokenizer=script`` and ``regex:PATTERN`` against the real library with such a function."""

from __future__ import annotations

import pytest

from . import corpora
from .case import Option
from .harness import Trainers

SOFT: dict[str, Option] = {
    "vocab_size": 900,
    "hard_vocab_limit": False,
    "num_threads": 3,
    # The function for the real library drops the marks of symbols, as ours does.
    "allow_inconsistent_pretokenization": True,
}
LINE = (
    "１２ 3,4 x=a+b ﾊﾟｰﾃｨｰ カー漢字ひら がな。 a\u0301b \u0301c d\u200d  العـالمي\u00a0a \u0301 b\n"
)
TEXT = corpora.mixed_text(11, 250) + LINE * 5 + corpora.topics_text(8000)

PATTERNS = [
    r"regex:'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"regex:\p{N}{1,3}",
    "regex:▁?[a-e]+",
    "regex:(?=b)",
    "regex:",
]

OPTIONS: list[dict[str, Option]] = [
    {},
    {"add_dummy_prefix": False},
    {"remove_extra_whitespaces": False},
    {"remove_extra_whitespaces": False, "allow_whitespace_only_pieces": True},
    {"split_by_whitespace": False},
    {"split_by_unicode_script": False, "split_by_number": False},
    {"split_by_number": False},
    {"split_digits": True},
    {"character_coverage": 0.98},
    {"user_defined_symbols": ["the", "▁of", "e", "\u0301"], "control_symbols": ["<sep>"]},
    {"user_defined_symbols": ["the", "e", "\u0301"]},
    {"normalization_rule_name": "identity"},
    {"normalization_rule_name": "identity", "split_by_unicode_script": False},
]


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
@pytest.mark.parametrize("option", OPTIONS, ids=str)
def test_script_equals_its_function(
    trainers: Trainers, option: dict[str, Option], model_type: str
) -> None:
    options: dict[str, Option] = {**SOFT, "model_type": model_type, **option}
    trainers.check(options, TEXT, pretokenizer="script")
    trainers.check(options, corpora.messy_bytes(5), pretokenizer="script", workers=2)


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
@pytest.mark.parametrize("option", [*OPTIONS, {"treat_whitespace_as_suffix": True}], ids=str)
def test_a_pattern_equals_its_function(
    trainers: Trainers, option: dict[str, Option], model_type: str
) -> None:
    pytest.importorskip("regex")
    options: dict[str, Option] = {**SOFT, "model_type": model_type, **option}
    for pattern in PATTERNS:
        trainers.check(options, TEXT, pretokenizer=pattern)
