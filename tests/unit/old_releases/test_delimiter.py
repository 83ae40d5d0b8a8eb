"""Tests of `pretokenization_delimiter` in Unigram training up to 0.2.2 (delimiter.hpp)."""

from __future__ import annotations

import pytest

from tests.parity.case import Option
from tests.parity.harness import Trainers, file_case
from tests.parity.test_unigram_releases import SMALL, TEXTS

pytestmark = pytest.mark.slow

SPLITTING: list[dict[str, Option]] = [
    {},
    {"split_by_whitespace": False},
    {"treat_whitespace_as_suffix": True},
    {"allow_whitespace_only_pieces": True, "remove_extra_whitespaces": False},
    {"input_format": "tsv"},
    {"input_format": "tsv", "split_by_whitespace": False},
]


@pytest.mark.parametrize("splitting", SPLITTING, ids=str)
@pytest.mark.parametrize("delimiter", ["e", "||", "▁t", "の", "▅"])
def test_a_delimiter_cuts_only_seeds(
    trainers: Trainers, old_release: str, delimiter: str, splitting: dict[str, Option]
) -> None:
    """Up to 0.2.1, each single byte of the delimiter cuts seeds, even inside a character."""
    lines = ["a||b |c|| d||e \x1f", "のら の あの", "e", "||", "é è ãa", "a \u200b b", "\u200b"]
    lines += [*TEXTS["mixed"].splitlines()[:60], "a||e", "\u200b", "e", "\u200b"]
    if "input_format" in splitting:
        words = [line for line in lines if line and "\t" not in line]
        lines = [f"{line}\t{n % 5 + 1}" for n, line in enumerate(words)]
    options = {**SMALL, "pretokenization_delimiter": delimiter, **splitting}
    trainers.check(options, "\n".join(lines) + "\n", release=old_release)


@pytest.mark.parametrize("delimiter", ["a", "▁", "▁ab", "ab", "の"])
@pytest.mark.parametrize("lines", ["ab aab|ab", "abab", "a|a|ab ab|ab", "のab|のaら|abの"])
def test_a_delimiter_in_a_small_text(
    trainers: Trainers, old_release: str, lines: str, delimiter: str
) -> None:
    """Some of the delimiters remove the whole text."""
    case = file_case(
        {"pretokenization_delimiter": delimiter, "hard_vocab_limit": False},
        [lines.replace("|", "\n")],
        release=old_release,
    )
    comparison = trainers.run(case)
    assert comparison.equal, comparison.report()


def test_a_delimiter_and_a_seed_file(trainers: Trainers, old_release: str) -> None:
    pieces = [word[:n] for word in TEXTS["words"].split()[:60] for n in (1, 2, 3, 4)]
    lines = [f"{piece}\t{n % 17 + 1}\n" for n, piece in enumerate(pieces)]
    options = {
        **SMALL,
        "seed_sentencepieces_file": "seeds.tsv",
        "pretokenization_delimiter": "e",
    }
    files = {"seeds.tsv": "".join(lines).encode()}
    comparison = trainers.compare(options, TEXTS["words"], files=files, release=old_release)
    assert comparison.equal, comparison.report()
