"""The README's known deviations, one expected failure for each line.

Whoever makes both sides equal is told so here, and takes the test and the line out.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.parity.case import Case, Option
from tests.parity.corpora import words_text
from tests.parity.environments import MissingEnvironmentError
from tests.parity.harness import Trainers, file_case, sentences_case

README = Path(__file__).resolve().parents[2] / "README.md"
TEXT = words_text(1)
SOFT: dict[str, Option] = {"vocab_size": 400, "hard_vocab_limit": False}
ALL_CHARACTERS: dict[str, Option] = {
    "vocab_size": 600,
    "hard_vocab_limit": False,
    "auto_character_coverage": True,
    "use_sparse_pruning": True,
    "byte_fallback": True,
}
NOBODY = "nobody means it"
NOT_KEPT = "the text is not kept in memory"
LIKEWISE = "likewise"

LINES: dict[str, str] = {
    "machines other than x86-64 Linux": "the same bytes everywhere",  # needs such a machine
    "file names and symbols on the command line that are not UTF-8": (
        "the fields of a model are text"  # the reference's wheel has no command line
    ),
    "Unigram: more than 500 MiB of normalized text from an iterator or a pipe, without a sample": (
        NOT_KEPT  # takes many minutes, and more memory than most machines have
    ),
    "`pretokenizer`": NOT_KEPT,  # likewise: a text is read again if it is that large
}
"""The lines of the README and their reasons: first those that no test here can show."""


def deviation(line: str, why: str) -> Callable[[Callable[..., None]], Any]:
    """Mark the test of a line of the README: it fails, and must."""
    LINES[line] = why
    return pytest.mark.xfail(strict=True, raises=AssertionError, reason=why)


def check(trainers: Trainers, case: Case) -> None:
    """Require the same bytes, or the same failure; that a process ends is no failure."""
    try:
        comparison = trainers.run(case)
    except MissingEnvironmentError as error:
        pytest.skip(str(error))
    assert comparison.equal, comparison.report()
    sides = (comparison.ours.failure, comparison.reference.failure)
    assert len({failure is not None and failure.crashed for failure in sides}) == 1


def test_the_readme_has_the_same_lines() -> None:
    section = README.read_text().partition("## Known deviations")[2].partition("\n## ")[0]
    rows = [line.strip("|").split(" | ") for line in section.split("\n") if line.startswith("|")]
    assert {row[0].strip(): row[-1].strip() for row in rows[2:]} == LINES


@deviation(
    "`input_sentence_size` with shuffling, 0.2.2 and 0.2.3",
    "theirs cannot be repeated, so there is nothing to equal",
)
@pytest.mark.parametrize("release", ["0.2.2", "0.2.3"])
def test_sampling(trainers: Trainers, release: str) -> None:
    options = {**SOFT, "model_type": "word", "vocab_size": 1500, "input_sentence_size": 101}
    text = words_text(2, lines=3000, types=2000)
    check(trainers, file_case(options, [text], release=release))


@deviation(
    "more lines than `self_test_sample_size`, up to 0.2.2; with `--random_seed`, 0.2.2 alone",
    LIKEWISE,
)
@pytest.mark.parametrize(("release", "form"), [("0.2.1", "python"), ("0.2.2", "cli")])
def test_samples_for_self_tests(trainers: Trainers, release: str, form: str) -> None:
    options: dict[str, Option] = {**SOFT, "model_type": "char", "self_test_sample_size": 9}
    seed: dict[str, Option] = {"random_seed": 1} if form == "cli" else {}
    text = words_text(3, lines=2000)
    check(trainers, file_case({**options, **seed}, [text], form=form, release=release))


@deviation("a `seed_sentencepieces_file` that does not exist", NOBODY)
def test_a_missing_seed_file(trainers: Trainers) -> None:
    check(trainers, file_case({**SOFT, "seed_sentencepieces_file": "nowhere.tsv"}, [TEXT]))


@deviation("NUL in `model_prefix`", NOBODY)
def test_nul_in_a_name(trainers: Trainers) -> None:
    check(trainers, file_case({**SOFT, "model_prefix": "m\0more"}, [TEXT]))


@deviation("a lone surrogate in a keyword", "one exception for bad values")
def test_a_lone_surrogate(trainers: Trainers) -> None:
    check(trainers, file_case({**SOFT, "control_symbols": "\ud800"}, [TEXT]))


@deviation("a `normalizer` that is none", LIKEWISE)
def test_no_normalizer(trainers: Trainers) -> None:
    check(trainers, file_case({**SOFT, "normalizer": "nfkc"}, [TEXT]))


def late() -> list[str]:
    """Return counted lines of more than 16 MB; the last one, counted often, holds no space."""
    lines = [f"{number} {'あ ' * 1000}\t1" for number in range(4400)]
    return [*lines, f"{'い' * 100}\t100000000"]


@deviation(
    "Unigram, word, BPE up to 0.2.1: an iterator or a pipe in which U+2581 falls below "
    "`character_coverage` only after 16 MB",
    LIKEWISE,
)
def test_a_space_mark_that_gets_rare_late(trainers: Trainers) -> None:
    options: dict[str, Option] = {**SOFT, "model_type": "word", "input_format": "tsv"}
    more: dict[str, Option] = {"character_coverage": 0.98, "max_sentence_length": 10000}
    check(trainers, sentences_case({**options, **more}, late()))


@deviation("a list as `sentence_iterator`", "any iterable will do")
def test_a_list(trainers: Trainers) -> None:
    check(trainers, sentences_case(SOFT, TEXT.split("\n"), handing="list itself"))


@deviation("`auto_character_coverage` in a Unigram model, and NUL in the text", NOBODY)
def test_nul_as_a_character(trainers: Trainers) -> None:
    check(trainers, file_case(ALL_CHARACTERS, [TEXT + "a\0b\n"]))


@deviation(
    "`auto_character_coverage` in a Unigram model, and a `pretokenizer` that halves characters",
    NOBODY,
)
def test_halves_of_characters(trainers: Trainers) -> None:
    check(trainers, file_case(ALL_CHARACTERS, ["abc d\n"], pretokenizer="half characters"))


@deviation(
    "BPE up to 0.2.1 with nothing left to merge at a multiple of 100 pieces",
    "it dies of what it logs",
)
def test_a_log_that_ends_the_program(trainers: Trainers) -> None:
    # The level of a case before stays set in its process.
    options: dict[str, Option] = {**SOFT, "model_type": "bpe", "minloglevel": 0}
    options["add_dummy_prefix"] = False
    check(trainers, file_case(options, ["1\n"], release="0.2.1"))


@deviation(
    "BPE up to 0.2.2: required characters that the text does not hold, pairs beyond the 65,536th "
    "character of a word",
    "an error can be handled",
)
@pytest.mark.parametrize("release", ["0.2.1", "0.2.2"])
@pytest.mark.parametrize("fault", ["required", "long"])
def test_what_ends_the_program(trainers: Trainers, release: str, fault: str) -> None:
    options: dict[str, Option] = {**SOFT, "model_type": "bpe", "minloglevel": 1}
    text = TEXT
    if fault == "required":
        options["required_chars"] = "漢"
    else:
        options["max_sentence_length"] = 1_000_000
        text = "ab" * 40_000 + "\n"
    check(trainers, file_case(options, [text], release=release))


@deviation(
    "`enable_differential_privacy`, up to 0.2.2, unless it changes nothing",
    "noise that is another one in every process",
)
def test_differential_privacy(trainers: Trainers) -> None:
    privacy: dict[str, Option] = {
        "enable_differential_privacy": True,
        "differential_privacy_noise_level": 1,
        "differential_privacy_clipping_threshold": 1,
    }
    check(trainers, file_case({**SOFT, **privacy}, [TEXT], release="0.2.1"))


@deviation(
    "`KeyboardInterrupt` or `SystemExit` in a `pretokenizer`", "it is meant to end the program"
)
def test_a_pretokenizer_that_exits(trainers: Trainers) -> None:
    check(trainers, file_case(SOFT, [TEXT], pretokenizer="exits"))


@deviation(
    "an option that the release does not know, and a value that is none, in one call, up to 0.2.1",
    "an error either way",
)
def test_two_mistakes(trainers: Trainers) -> None:
    options: dict[str, Option] = {**SOFT, "vocab_size": "many", "no_such_option": 1}
    check(trainers, file_case(options, [TEXT], release="0.2.1"))
