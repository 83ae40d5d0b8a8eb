"""BPE merges equal the oracle's for releases up to 0.2.1, which choose from an active set."""

from __future__ import annotations

import random

import pytest

from spmcompat.bpe.merges import find_merges
from spmcompat.runtime.workers import Workers
from tests.oracle import active_set, merging
from tests.oracle.characters import Options
from tests.oracle.heap import largest
from tests.parity import corpora
from tests.searches import examples
from tests.unit import stages


def merges_of(case: stages.Case, wanted: int) -> list[tuple[str, int]]:
    segments = case.corpus.bpe_segments(Workers(1))
    merges = find_merges(segments, wanted, Workers(2), active_set=True)
    return [(piece.decode(), count) for piece, count, _ in merges]


def many_pairs(dice: random.Random) -> list[tuple[str, int]]:
    """Return a text with more pairs than the active set can hold. Nearly all pairs occur once."""
    letters = [chr(0x4E00 + i) for i in range(600)]
    words = ["".join(dice.choices(letters, k=dice.randint(6, 12))) for _ in range(250)]
    return [(" ".join(words[at : at + 9]), 1) for at in range(0, 250, 9)]


@pytest.mark.parametrize("number", range(examples(60)))
@pytest.mark.parametrize("repeated", [1, 40, 10**9], ids=["rare", "frequent", "very frequent"])
def test_a_few_pairs_are_all_active(number: int, repeated: int) -> None:
    dice = random.Random(f"active/{number}")
    lines = [(line, count * repeated) for line, count in stages.random_lines(dice)]
    case = stages.both(lines, stages.random_options(dice))
    wanted = dice.choice([1, 10, 300])
    oracle = list(active_set.merges(case.sentences, case.options, wanted))
    assert merges_of(case, wanted) == oracle


@pytest.mark.slow
@pytest.mark.parametrize("number", range(4))
def test_ties_at_the_cut(number: int) -> None:
    dice = random.Random(f"cut/{number}")
    options = Options(
        split_by_whitespace=dice.random() < 0.5,
        split_by_unicode_script=dice.random() < 0.5,
        character_coverage=dice.choice([1.0, 0.98]),
    )
    repeated = dice.choice([1, 1000])
    case = stages.both([(line, repeated) for line, _ in many_pairs(dice)], options)
    oracle = list(active_set.merges(case.sentences, options, 230))
    assert oracle[:90] != list(merging.merges(case.sentences, options, 90))
    assert merges_of(case, 230) == oracle


@pytest.mark.slow
def test_frequent_pairs_are_merged_without_the_active_set() -> None:
    """At every merge, the best pair is far more frequent than the last pairs of the active set."""
    text = [(line, 1) for line in corpora.topics_text(20_000).split("\n") if line]
    case = stages.both(text, Options())
    oracle = list(merging.merges(case.sentences, case.options, 25))
    assert merges_of(case, 25) == oracle


@pytest.mark.parametrize("repeated", [1, 10**6])
def test_fewer_merges_are_the_first_of_more_merges(repeated: int) -> None:
    text = [(line, repeated) for line, _ in many_pairs(random.Random(7))]
    many = merges_of(stages.both(text, Options()), 333)
    for wanted in (7, 99, 100, 101, 250):
        assert merges_of(stages.both(text, Options()), wanted) == many[:wanted]


def test_the_heap_of_the_oracle_finds_the_largest_keys() -> None:
    dice = random.Random(3)
    for size in (0, 1, 2, 7, 30, 31):
        keys = [dice.randint(0, 9) for _ in range(31)]
        found = [keys[i] for i in largest(keys, size)]
        assert sorted(found, reverse=True) == sorted(keys, reverse=True)[:size]
