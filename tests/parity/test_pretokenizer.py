"""Compares spmcompat with the real library: training with a pretokenizer function."""

from __future__ import annotations

import pytest

from . import corpora, pretokenizers
from .case import Option
from .harness import Trainers, file_case, sentences_case

SOFT: dict[str, Option] = {"vocab_size": 500, "hard_vocab_limit": False, "num_threads": 3}
TEXT = corpora.mixed_text(11, 250) + corpora.topics_text(8000)

TYPES = ["unigram", "bpe"]


@pytest.mark.parametrize("model_type", TYPES)
@pytest.mark.parametrize("name", pretokenizers.CONSISTENT)
def test_pretokens_that_join_to_the_sentence(
    trainers: Trainers, name: str, model_type: str
) -> None:
    options: dict[str, Option] = {**SOFT, "model_type": model_type, "vocab_size": 900}
    trainers.check(options, TEXT, pretokenizer=name)
    trainers.check(options, corpora.messy_bytes(5), pretokenizer=name)


@pytest.mark.parametrize("model_type", TYPES)
@pytest.mark.parametrize("name", pretokenizers.INCONSISTENT)
def test_pretokens_that_do_not_join_to_the_sentence(
    trainers: Trainers, name: str, model_type: str
) -> None:
    options: dict[str, Option] = {**SOFT, "model_type": model_type, "vocab_size": 900}
    trainers.check({**options, "allow_inconsistent_pretokenization": True}, TEXT, pretokenizer=name)
    # For broken bytes, the reference fails with another error, because it cannot decode its own
    # message, which quotes these bytes.
    key = "" if name == "broken bytes" else "Pretokenized output mismatch at"
    trainers.check_failure(file_case(options, [TEXT], pretokenizer=name), key=key)


OPTIONS: list[dict[str, Option]] = [
    {"add_dummy_prefix": False},
    {"treat_whitespace_as_suffix": True},
    {"remove_extra_whitespaces": False},
    {"remove_extra_whitespaces": False, "allow_whitespace_only_pieces": True},
    {"split_by_whitespace": False},
    {"split_by_whitespace": False, "treat_whitespace_as_suffix": True},
    {"split_by_unicode_script": False, "split_by_number": False},
    {"split_digits": True},
    {"character_coverage": 0.98},
    {"character_coverage": 0.98, "split_by_whitespace": False},
    {"required_chars": "zqあ\x1f"},
    {"user_defined_symbols": ["the", "▁of", "e"], "control_symbols": ["<sep>"]},
    {"normalization_rule_name": "identity"},
    {"max_sentencepiece_length": 3},
    {"max_sentence_length": 60},
    {"input_sentence_size": 101, "shuffle_input_sentence": False},
    {"input_sentence_size": 100_000},
    {"num_threads": 1},
    {"num_threads": 16},
    {"pretokenization_delimiter": ""},
    {"allow_inconsistent_pretokenization": "no"},
]


@pytest.mark.parametrize("model_type", TYPES)
@pytest.mark.parametrize("option", OPTIONS, ids=str)
def test_with_other_options(trainers: Trainers, option: dict[str, Option], model_type: str) -> None:
    options: dict[str, Option] = {**SOFT, "vocab_size": 900, "model_type": model_type, **option}
    trainers.check(options, TEXT, pretokenizer="kinds")
    options["allow_inconsistent_pretokenization"] = True
    trainers.check(options, TEXT, pretokenizer="no spaces", workers=2)


def test_bpe_whose_characters_compete(trainers: Trainers) -> None:
    options: dict[str, Option] = {
        **SOFT,
        "model_type": "bpe",
        "auto_character_coverage": True,
        "byte_fallback": True,
    }
    for name in ("kinds", "characters", "empty pretokens"):
        trainers.check(options, TEXT, pretokenizer=name)


@pytest.mark.parametrize("model_type", TYPES)
def test_counts_and_sentences(trainers: Trainers, model_type: str) -> None:
    options: dict[str, Option] = {**SOFT, "model_type": model_type}
    counted = "".join(f"{word}\t{count}\n" for count, word in enumerate(TEXT.split()[:300], 1))
    trainers.check({**options, "input_format": "tsv"}, counted, pretokenizer="kinds")
    trainers.check_sentences(options, TEXT.split("\n"), pretokenizer="kinds", writer=True)


@pytest.mark.parametrize("workers", [1, 2, 3, 7])
def test_workers_never_change_a_byte(trainers: Trainers, workers: int) -> None:
    options: dict[str, Option] = {**SOFT, "max_sentence_length": 1 << 20}
    trainers.check(options, TEXT * 40, pretokenizer="kinds", workers=workers)


def test_a_space_mark_below_the_coverage(trainers: Trainers) -> None:
    """If the character coverage excludes the space mark, each sentence becomes one pretoken."""
    lines = corpora.words_text(8, 400, "han", 300).replace(" ", "").split("\n")
    lines[7] = lines[7][:2] + " " + lines[7][2:]
    options: dict[str, Option] = {**SOFT, "character_coverage": 0.98, "add_dummy_prefix": False}
    trainers.check(options, "\n".join(lines), pretokenizer="tuple of pairs")


@pytest.mark.parametrize("consistent", [True, False])
@pytest.mark.parametrize("name", pretokenizers.FAILING)
def test_both_fail(trainers: Trainers, name: str, consistent: bool) -> None:
    options: dict[str, Option] = {**SOFT, "allow_inconsistent_pretokenization": not consistent}
    case = sentences_case(options, ["abc abd", "  ", "abe"], pretokenizer=name)
    trainers.check_failure(case)


@pytest.mark.parametrize("model_type", TYPES)
@pytest.mark.parametrize("name", ["no spaces", "raises", "kinds"])
@pytest.mark.parametrize(
    "option",
    [
        {"vocab_size": 3},
        {"vocab_size": 4},
        {"vocab_size": 200, "byte_fallback": True},
        {
            "vocab_size": 259,
            "byte_fallback": True,
            "auto_character_coverage": True,
            "use_sparse_pruning": True,
        },
    ],
    ids=str,
)
def test_both_refuse_a_vocabulary_that_is_too_small(
    trainers: Trainers, model_type: str, name: str, option: dict[str, Option]
) -> None:
    """If the pretokenizer fails as well, its error is reported, not that of the vocabulary."""
    options = {**SOFT, **option, "model_type": model_type}
    trainers.check_failure(file_case(options, [TEXT], pretokenizer=name))


@pytest.mark.parametrize("model_type", ["word", "char"])
def test_other_model_types_refuse_a_function(trainers: Trainers, model_type: str) -> None:
    case = file_case({**SOFT, "model_type": model_type}, [TEXT], pretokenizer="whole")
    trainers.check_failure(case, key="only supported in UNIGRAM or BPE mode.")


def test_a_function_and_a_delimiter_are_refused(trainers: Trainers) -> None:
    case = file_case({**SOFT, "pretokenization_delimiter": "e"}, [TEXT], pretokenizer="whole")
    trainers.check_failure(case, key="cannot be set simultaneously.")


def test_the_option_for_inconsistency_does_nothing_without_a_function(trainers: Trainers) -> None:
    trainers.check({**SOFT, "allow_inconsistent_pretokenization": True}, TEXT)
