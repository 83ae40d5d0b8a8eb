"""BPE models as earlier releases of the reference train them."""

from __future__ import annotations

import pytest

from tests.parity.case import Option
from tests.parity.corpora import (
    fibonacci_text,
    long_words_text,
    mixed_text,
    ties_text,
    topics_text,
    words_text,
)
from tests.parity.harness import Trainers, file_case
from tests.parity.test_model_types import BPE_OPTIONS, LONG_PIECES
from tests.parity.test_options import ONE_OPTION

BPE: dict[str, Option] = {"model_type": "bpe", "vocab_size": 500, "hard_vocab_limit": False}

TESTED = {
    "add_dummy_prefix",
    "allow_whitespace_only_pieces",
    "byte_fallback",
    "character_coverage",
    "max_sentencepiece_length",
    "pretokenization_delimiter",
    "remove_extra_whitespaces",
    "split_by_number",
    "split_by_unicode_script",
    "split_by_whitespace",
    "split_digits",
    "treat_whitespace_as_suffix",
    "user_defined_symbols",
    "vocab_size",
}
OPTIONS = [option for option in [*ONE_OPTION, *BPE_OPTIONS] if option and option.keys() <= TESTED]


@pytest.mark.parametrize("option", OPTIONS, ids=str)
def test_each_option_alone(trainers: Trainers, old_release: str, option: dict[str, Option]) -> None:
    comparison = trainers.compare({**BPE, **option}, topics_text(12_000), release=old_release)
    if comparison.reference.failure is not None and comparison.reference.failure.crashed:
        # If no pair is left to merge, the reference reads beyond the end of an array to write its
        # log, and crashes. So run the reference without a log.
        quiet = {**BPE, **option, "minloglevel": 1}
        comparison = trainers.compare(quiet, topics_text(12_000), release=old_release)
    assert comparison.equal, comparison.report()


@pytest.mark.parametrize("split", [True, False])
@pytest.mark.parametrize(
    ("name", "text", "size"),
    [
        ("topics", topics_text(25_000), 4000),
        ("mixed", mixed_text(1, 400), 2500),
        ("han", words_text(3, 300, "han", 300), 3000),
        ("ties", ties_text(5, 200, "abcdefgh"), 1500),
        ("fibonacci", fibonacci_text(14), 12),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 20 else "",
)
def test_ties_at_the_cut_of_the_active_set(
    trainers: Trainers, old_release: str, name: str, text: str, size: int, split: bool
) -> None:
    """The vocabulary is so large that pairs with a count of 1 are merged."""
    options = {**BPE, "vocab_size": size, "split_by_whitespace": split, "minloglevel": 1}
    trainers.check(options, text, release=old_release)


def test_the_shorter_of_two_long_pieces_comes_first(trainers: Trainers, old_release: str) -> None:
    options = {**LONG_PIECES, "minloglevel": 1}
    trainers.check(options, long_words_text(1), release=old_release)


@pytest.mark.parametrize("text", ["a", "ab", "aaaa aaa\n" * 3, "ab ab\nabab\n"])
def test_merging_ends_when_no_pair_is_left(trainers: Trainers, old_release: str, text: str) -> None:
    trainers.check({**BPE, "minloglevel": 1, "character_coverage": 1.0}, text, release=old_release)


def test_required_characters_must_be_in_the_text(trainers: Trainers, old_release: str) -> None:
    trainers.check({**BPE, "required_chars": "ab"}, topics_text(3_000), release=old_release)
    case = file_case({**BPE, "required_chars": "a漢"}, ["abc abd\n"], release=old_release)
    comparison = trainers.run(case)
    assert comparison.reference.failure is not None
    assert comparison.ours.failure is not None
    assert 'required_chars contains "漢"' in comparison.ours.failure.message


def test_texts_with_counts(trainers: Trainers, old_release: str) -> None:
    text = "the quick\t5\nbrown\t3\nthe\t40\nfox ▁the\t2\nquick fox\t1000000007\n漢 the\t1\n"
    options = {**BPE, "input_format": "tsv", "minloglevel": 1}
    trainers.check(options, text, release=old_release)
    trainers.check({**options, "split_by_whitespace": False}, text, release=old_release)


@pytest.mark.parametrize("split", [True, False])
def test_texts_with_empty_sentences(trainers: Trainers, old_release: str, split: bool) -> None:
    """The reference replaces an empty sentence with the last sentence, even if it is empty, too."""
    text = "\u200b\nzab zac\n\u200b\n" + words_text(2, 150, "han", 300) + "\nyab\n\u200b\n\u200b\n"
    options = {**BPE, "vocab_size": 2500, "split_by_whitespace": split, "minloglevel": 1}
    trainers.check({**options, "add_dummy_prefix": False}, text, release=old_release)
