"""Compares pretoken seeds and recovered prefixes with published tables and with brute force."""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import replace
from functools import partial

import pytest

from spmcompat.runtime.context import Context
from spmcompat.runtime.workers import Workers
from spmcompat.unigram.seeding.seeds import seed_from_corpus
from tests.oracle import seeding as oracle
from tests.oracle.characters import Options, is_valid_piece
from tests.unit import stages
from tests.unit.stages import Case

ALL = 1_000_000
# The number of corpora per test. Each mode has ten tests, so SPMCOMPAT_SEEDINGS=1000 gives ten
# thousand corpora per mode.
BATCH = int(os.environ.get("SPMCOMPAT_SEEDINGS", "20"))

GRAMMY = {"grammy award": 1, "grammy winning": 1, "grammar": 1}
GRAMMY_SEEDS = {"grammy ": 2, "gramm": 3, "rammy ": 2, "ramm": 3, "ammy ": 2, "amm": 3}
GRAMMY_SEEDS |= {"ar": 2, "mmy ": 2, "mm": 3, "my ": 2, "y ": 2, "in": 2}
SPACED = {"grammy ", "rammy ", "ammy ", "mmy ", "my ", "y "}
BANANA = {"banana": 1, "ananas": 2, "asinine": 3, "nine": 9}
BANANA_SEEDS = {"ananas": 2, "asinine": 3, "anana": 3, "ana": 6, "as": 5, "nana": 3, "na": 6}
BANANA_SEEDS |= {"ne": 12, "nine": 12, "ine": 12, "in": 15}


def substrings(case: Case, pretokens: bool, recover: bool) -> dict[str, float]:
    """Return the seeds with their scores, without the characters of the alphabet."""
    rule = stages.seed_options(ALL, prefix_recovery=recover)._replace(
        seed_mode="pretokens" if pretokens else "full_text"
    )
    seeds = seed_from_corpus(case.corpus, rule, Context(Workers(2), stages.QUIET))
    return {piece.decode(): score for piece, score in list(seeds)[len(case.corpus.alphabet) :]}


def scores_of(case: Case, counts: Counter[str]) -> dict[str, float]:
    pieces = [*oracle.characters(case.sentences), *oracle.ranked(counts, case.options)]
    scored = oracle.log_probabilities(pieces)
    return {text: float(score) for text, score in scored[len(scored) - len(counts) :]}


def pretokens_case(pretokens: dict[str, int], length: int = 10) -> Case:
    """Return a case with the given pretokens. They are not cut at white space."""
    options = Options(
        character_coverage=1.0, split_by_whitespace=False, max_sentencepiece_length=length
    )
    return stages.both(list(pretokens.items()), options, dummy=False)


@pytest.mark.parametrize(
    ("pretokens", "seeds"),
    [(GRAMMY, GRAMMY_SEEDS), (BANANA, BANANA_SEEDS)],
    ids=["grammy", "banana"],
)
def test_pretoken_seeds_equal_the_published_tables(
    pretokens: dict[str, int], seeds: dict[str, int]
) -> None:
    # A space may not end a piece, so it is replaced with a letter that no pretoken has.
    expected = Counter({text.replace(" ", "z"): count for text, count in seeds.items()})
    case = pretokens_case({text.replace(" ", "z"): count for text, count in pretokens.items()})
    assert substrings(case, pretokens=True, recover=False) == scores_of(case, expected)
    assert oracle.pretoken_candidates(pretokens, lambda text: len(text) <= 10, False) == seeds


def test_the_oracle_equals_the_published_table_with_recovery() -> None:
    def has_no_inner_space(text: str) -> bool:
        return len(text) <= 10 and " " not in text[1:]

    seeds = {text: count for text, count in GRAMMY_SEEDS.items() if text not in SPACED}
    assert oracle.pretoken_candidates(GRAMMY, has_no_inner_space, False) == seeds
    recovered = {text.strip(): 2 for text in SPACED - {"y "}}
    assert oracle.pretoken_candidates(GRAMMY, has_no_inner_space, True) == seeds | recovered


def random_pretokens(dice: random.Random) -> dict[str, int]:
    """Draw pretokens, some of which contain substrings that are not valid pieces."""
    letters = dice.choice(["ab", "abc", "aé", "漢字あ", "aあ\u0301", "ab\u0301漢", "𝒂𝒃a"])
    sizes = [dice.randint(1, 9) for _ in range(dice.randint(1, 6))]
    pretokens = ["".join(dice.choices(letters, k=size)) for size in sizes]
    return {pretoken: dice.choice([1, 1, 2, 5]) for pretoken in pretokens}


def segments_of(case: Case) -> Counter[str]:
    """Cut pretokens between characters that no piece may join."""
    any_length = replace(case.options, max_sentencepiece_length=99)
    found: Counter[str] = Counter()
    for pretoken, count in case.counted:
        begin = 0
        for i in range(1, len(pretoken)):
            if not is_valid_piece(pretoken[i - 1 : i + 1], any_length):
                found[pretoken[begin:i]] += count
                begin = i
        found[pretoken[begin:]] += count
    return found


@pytest.mark.slow
@pytest.mark.parametrize("recover", [False, True])
@pytest.mark.parametrize("batch", range(10))
def test_pretoken_seeds_equal_brute_force(batch: int, recover: bool) -> None:
    for number in range(BATCH):
        dice = random.Random(f"pretokens/{batch}/{number}")
        case = pretokens_case(random_pretokens(dice), length=dice.choice([2, 3, 4, 16]))
        is_valid = partial(is_valid_piece, options=case.options)
        expected = oracle.pretoken_candidates(segments_of(case), is_valid, recover)
        assert substrings(case, True, recover) == scores_of(case, expected), case.sentences


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(10))
def test_recovered_prefixes_of_the_text_equal_brute_force(batch: int) -> None:
    for number in range(BATCH):
        case = stages.random_case(f"recovery/{batch}/{number}")
        chunk = b"".join(text.encode() + b"\0" for text, n in case.sentences for _ in range(n))
        if len(chunk) > 150:  # brute force takes quadratic time
            continue
        expected = oracle.text_candidates(chunk, case.options)
        assert substrings(case, False, True) == scores_of(case, expected), case.sentences
