"""Merges that continue from the pieces of a model, compared with the oracle."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from spmcompat.bpe.merges import count_in_encoded, find_merges
from spmcompat.runtime.workers import Workers
from tests.oracle import growing, merging
from tests.oracle.characters import UNKNOWN, Options, Sentence, pretokens
from tests.searches import examples
from tests.unit import stages
from tests.unit.bpe.test_merges import segments_of


def given_pieces(scores: dict[str, float]) -> list[tuple[bytes, float]]:
    return [(piece.encode(), score) for piece, score in scores.items()]


def extended(
    lines: list[Sentence], options: Options, scores: dict[str, float], wanted: int
) -> list[tuple[str, int]]:
    segments = segments_of(
        [f"{line}\t{count}" for line, count in lines],
        input_format="tsv",
        **stages.corpus_options(options),
    )
    merges = find_merges(segments, wanted, Workers(2), initial=given_pieces(scores))
    return [(piece.decode(), count) for piece, count, _ in merges]


def learned(case: stages.Case, wanted: int) -> dict[str, float]:
    """Return the first merges and the characters of a text, with the scores that training sets."""
    merges = [piece for piece, _ in merging.merges(case.sentences, case.options, wanted)]
    return {piece: -float(rank) for rank, piece in enumerate([*merges, *case.required])}


@pytest.mark.slow
@pytest.mark.parametrize("number", range(examples(100)))
@pytest.mark.parametrize("repeated", [1, 10**9], ids=["rare", "frequent"])
def test_merges_after_those_of_another_text(number: int, repeated: int) -> None:
    dice = random.Random(f"extending/{number}")
    options = stages.random_options(dice)
    old = stages.both(stages.random_lines(dice), options)
    lines = [(line, count * repeated) for line, count in stages.random_lines(dice)]
    case = stages.both(lines, options)
    scores = learned(old, dice.choice([1, 5, 50]))
    wanted = dice.choice([1, 10, 100])
    oracle = list(growing.extending_merges(case.sentences, options, scores, wanted))
    assert extended(lines, options, scores, wanted) == oracle


@pytest.mark.parametrize("number", range(examples(100)))
def test_merges_after_pieces_of_any_scores(number: int) -> None:
    """The initial pieces could not come from a trainer.

    The parts of a piece may be missing, or have a lower or an equal score.
    """
    dice = random.Random(f"any scores/{number}")
    lines = [("".join(dice.choices("abc", k=dice.randint(1, 12))), dice.randint(1, 3))] * 6
    texts = {"".join(dice.choices("▁abc", k=dice.randint(2, 5))) for _ in range(12)}
    scores = {text: float(-dice.randint(0, 6)) for text in sorted(texts)}
    options = Options(character_coverage=1.0)
    case = stages.both(lines, options)
    oracle = list(growing.extending_merges(case.sentences, options, scores, 30))
    assert extended(lines, options, scores, 30) == oracle


@pytest.mark.parametrize("number", range(examples(60)))
def test_the_same_text_goes_on_where_it_ended(number: int) -> None:
    """Extending a small model on the same text gives the same pieces as training a larger model.

    This holds until the reference begins to merge pairs that no longer occur.
    """
    dice = random.Random(f"same text/{number}")
    lines, options = stages.random_lines(dice), stages.random_options(dice)
    case = stages.both(lines, options)
    first = dice.choice([1, 4, 20])
    anew = list(merging.merges(case.sentences, options, first + 60))
    while anew and anew[-1][1] == 0:
        anew.pop()
    scores = learned(case, first)
    assert extended(lines, options, scores, 60) == anew[first:]


@pytest.mark.parametrize("number", range(examples(40)))
def test_pieces_are_counted_in_encoded_text(number: int) -> None:
    dice = random.Random(f"counting/{number}")
    lines, options = stages.random_lines(dice), stages.random_options(dice)
    case = stages.both(lines, options)
    scores = learned(stages.both(stages.random_lines(dice), options), 40)
    segments = segments_of(
        [f"{line}\t{count}" for line, count in lines],
        input_format="tsv",
        **stages.corpus_options(options),
    )
    found = count_in_encoded(segments, given_pieces(scores), Workers(2))
    counts: Counter[str] = Counter()
    for text, count in pretokens(case.sentences, options):
        for part in text.split(UNKNOWN):
            for symbol in growing.encode(part, scores):
                counts[symbol] += count
    assert found == [counts[piece] if len(piece) > 1 else 0 for piece in scores]
