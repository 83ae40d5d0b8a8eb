"""BPE, word and char models against the real library: each option, and each difficult text."""

from __future__ import annotations

import pytest

from . import corpora
from .case import Option
from .harness import Trainers, file_case
from .test_options import ONE_OPTION
from .test_texts import TEXTS

KINDS = ["bpe", "word", "char"]
SOFT: dict[str, Option] = {"vocab_size": 400, "hard_vocab_limit": False, "num_threads": 2}

AUTO: dict[str, Option] = {"auto_character_coverage": True, "byte_fallback": True}

SIMPLE_OPTIONS: list[dict[str, Option]] = [
    {"use_all_vocab": True},
    {"use_all_vocab": True, "hard_vocab_limit": True, "character_coverage": 0.98},
    {"use_all_vocab": True, "vocab_size": 4, "hard_vocab_limit": True},
    {"use_all_vocab": True, "pad_id": 50},
    {"vocab_size": 3, "hard_vocab_limit": True},
    {"vocab_size": 7, "hard_vocab_limit": True},
    {"hard_vocab_limit": True},
    {"user_defined_symbols": [".", "▁,", "the"]},
    {"user_defined_symbols": [".", "the"], "control_symbols": ["of", "▁of"]},
    {"treat_whitespace_as_suffix": True, "add_dummy_prefix": False},
    {"required_chars": "zq\U0001f600", "use_all_vocab": True},
    {"unk_id": -1, "byte_fallback": True},
]


BPE_OPTIONS: list[dict[str, Option]] = [
    {"vocab_size": 900, "hard_vocab_limit": True},
    {"user_defined_symbols": [".", "▁,", "the"], "vocab_size": 1000},
    {"treat_whitespace_as_suffix": True, "add_dummy_prefix": False, "vocab_size": 1000},
    {"vocab_size": 100_000},
    {"split_by_whitespace": False, "max_sentencepiece_length": 40},
    {"split_by_unicode_script": False, "split_by_number": False},
    {"pretokenization_delimiter": "e", "split_by_whitespace": False},
    {"required_chars": "zq\U0001f600"},
    *(
        {**AUTO, **more}
        for more in (
            {"vocab_size": 500},
            {"vocab_size": 260, "unk_id": -1},
            {"vocab_size": 700, "split_by_whitespace": False},
            {"vocab_size": 5000, "character_coverage": 0.98},
            {"vocab_size": 330, "user_defined_symbols": ["the", "\u2585"]},
        )
    ),
]


def options_for(kind: str) -> list[dict[str, Option]]:
    """Return the options that the model type accepts."""
    if kind == "bpe":
        return [o for o in [*ONE_OPTION, *BPE_OPTIONS] if "model_type" not in o]
    return [
        option
        for option in [*ONE_OPTION, *SIMPLE_OPTIONS]
        if not option.get("pretokenization_delimiter") and "model_type" not in option
    ]


@pytest.mark.parametrize(
    ("kind", "option"),
    [(kind, option) for kind in KINDS for option in options_for(kind)],
    ids=str,
)
def test_each_option_alone(trainers: Trainers, kind: str, option: dict[str, Option]) -> None:
    chosen = {**SOFT, **option, "model_type": kind}
    texts = (corpora.topics_text(12_000), corpora.mixed_text(1, 200))
    comparisons = [trainers.compare(chosen, text) for text in texts]
    for comparison in comparisons:
        assert comparison.equal, comparison.report()
    # Some options fail on one of the texts, but no option fails on both.
    assert not all(comparison.ours.failure for comparison in comparisons)


LONG_PIECES: dict[str, Option] = {
    "model_type": "bpe",
    "vocab_size": 3000,
    "hard_vocab_limit": False,
    "max_sentencepiece_length": 512,
}


def test_the_shorter_of_two_long_pieces_comes_first(trainers: Trainers) -> None:
    trainers.check(LONG_PIECES, corpora.long_words_text(1))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("rules", ["nmt_nfkc", "identity"])
def test_hard_texts(trainers: Trainers, kind: str, name: str, rules: str) -> None:
    options: dict[str, Option] = {**SOFT, "model_type": kind, "normalization_rule_name": rules}
    trainers.check(options, TEXTS[name])
    trainers.check({**options, "add_dummy_prefix": False}, TEXTS[name])


@pytest.mark.parametrize(
    ("kind", "options", "key"),
    [
        ("word", {"pretokenization_delimiter": "e"}, "only supported in UNIGRAM or BPE mode"),
        ("char", {"pretokenization_delimiter": "e"}, "only supported in UNIGRAM or BPE mode"),
        ("word", {"seed_sentencepieces_file": "s"}, "only supported for UNIGRAM model"),
        ("char", {"seed_sentencepieces_file": "s"}, "only supported for UNIGRAM model"),
        ("word", {"auto_character_coverage": True}, "only supported in UNIGRAM or BPE"),
        ("char", {"auto_character_coverage": True}, "only supported in UNIGRAM or BPE"),
        ("bpe", {"use_all_vocab": True}, "--use_all_vocab=true is valid for WORD/CHAR model."),
        ("bpe", {"seed_sentencepieces_file": "s"}, "only supported for UNIGRAM model"),
        ("bpe", {"auto_character_coverage": True}, "requires --byte_fallback=true"),
        ("bpe", {**AUTO, "required_chars": "a"}, "cannot be used together with"),
        ("bpe", {**AUTO, "vocab_size": 259}, "larger than the number of meta pieces (259 vs 259)"),
        ("bpe", {**AUTO, "vocab_size": 200}, ""),
        ("bpe", {"vocab_size": 200, "byte_fallback": True}, ""),
        ("bpe", {"vocab_size": 30}, "Vocabulary size is smaller than required_chars. 30 vs "),
        ("bpe", {"hard_vocab_limit": True, "vocab_size": 9999}, "Vocabulary size too high (9999)"),
        ("bpe", {"required_chars": "▅"}, ""),
        ("word", {"vocab_size": 200, "byte_fallback": True}, ""),
        ("char", {"vocab_size": 200, "byte_fallback": True}, ""),
        ("word", {"user_defined_symbols": [".", "▁."]}, "▁. is already defined"),
        ("word", {"hard_vocab_limit": True, "vocab_size": 9999}, "Vocabulary size too high (9999)"),
        ("word", {"use_all_vocab": True, "pad_id": 399, "hard_vocab_limit": True}, ""),
        ("char", {"required_chars": "▅"}, ""),
    ],
)
def test_both_refuse(trainers: Trainers, kind: str, options: dict[str, Option], key: str) -> None:
    chosen = {**SOFT, **options, "model_type": kind}
    trainers.check_failure(file_case(chosen, [corpora.topics_text(2_000)]), key=key)


def test_texts_that_symbols_cover(trainers: Trainers) -> None:
    """User-defined symbols cover the whole text: a word model is empty, a char model fails."""
    options: dict[str, Option] = {**SOFT, "user_defined_symbols": ["x", "▁"]}
    text = "x x\nx\n"
    trainers.check({**options, "model_type": "word"}, text)
    trainers.check({**options, "model_type": "bpe"}, text)
    trainers.check({**options, **AUTO, "vocab_size": 300, "model_type": "bpe"}, text)
    for kind in ("char", "unigram"):
        trainers.check_failure(file_case({**options, "model_type": kind}, [text]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("coverage", [0.98, 1.0])
def test_texts_with_counts(trainers: Trainers, kind: str, coverage: float) -> None:
    text = "the quick\t5\nbrown\t3\nthe\t40\nfox ▁the\t2\nquick fox\t1000000007\n漢 the\t1\n"
    options: dict[str, Option] = {"input_format": "tsv", "character_coverage": coverage}
    trainers.check({**SOFT, **options, "model_type": kind}, text)
    trainers.check({**SOFT, **options, "model_type": kind, "add_dummy_prefix": False}, text)


@pytest.mark.parametrize("kind", ["word", "char"])
@pytest.mark.parametrize("hard_limit", [True, False])
@pytest.mark.parametrize("pad_id", [4, 5, 7])
def test_meta_pieces_beyond_all_pieces(
    trainers: Trainers, pad_id: int, hard_limit: bool, kind: str, any_release: str
) -> None:
    """With `use_all_vocab`, a pad piece with too large an id is dropped, or training fails."""
    options: dict[str, Option] = {
        "model_type": kind,
        "use_all_vocab": True,
        "hard_vocab_limit": hard_limit,
        "eos_id": -1,
        "pad_id": pad_id,
    }
    comparison = trainers.run(file_case(options, ["γ"], release=any_release))
    assert comparison.equal, comparison.report()
