"""Training for the fewest tokens, compared with the oracle, which reports near ties."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from spmcompat.runtime.context import Context
from spmcompat.runtime.workers import Workers
from spmcompat.unigram.options import UnigramOptions
from spmcompat.unigram.trainer import make_seeds, train_sizes
from tests.oracle import fewest_tokens as oracle
from tests.unit import stages
from tests.unit.stages import QUIET

MARGIN = Fraction(4, 3)
"""More than exp(1/4): a score is rounded by up to 1/8, in each of two segmentations."""


def random_lines(dice: random.Random) -> list[str]:
    """Return lines of a word, a tab and a random count. The words share stems and endings."""
    letters = "abcdefgh"[: dice.randint(3, 8)]
    parts = ["".join(dice.choices(letters, k=dice.randint(1, 4))) for _ in range(8)]
    words = {"".join(dice.choices(parts, k=dice.randint(1, 3)))[:12] for _ in range(12)}
    return [f"{word}\t{dice.randint(1, 2000)}" for word in sorted(words)]


def both(seed: int, drop_unused: bool) -> tuple[oracle.Training, list[str], list[str], int]:
    """Return the oracle, the oracle's pieces, spmcompat's pieces, and the requested size."""
    dice = random.Random(seed)
    corpus = stages.read(random_lines(dice), input_format="tsv", character_coverage=1)
    words = {piece.decode(): count for piece, count in corpus.counted_pretokens()}
    required = {chr(character) for character, _ in corpus.alphabet}
    size = len(required) + dice.randint(2, 16)
    options = UnigramOptions(
        vocab_size=size,
        final_size=size,
        seed_mode="bpe",
        seed_factor=dice.choice([1.1, 1.3, 1.6, 2]),
        objective="fewest_tokens",
        drop_unused=drop_unused,
        num_sub_iterations=dice.randint(1, 3),
    )
    counts: list[int] = []
    found = make_seeds(corpus, options, Context(Workers(2), QUIET), seed_counts=counts)
    seeds = [piece.decode() for piece, _ in found]
    weights = {
        piece: Fraction(max(count, 1) * len(piece))
        for piece, count in zip(seeds, counts, strict=True)
    }
    training = oracle.Training(words, required, MARGIN)
    expected = training.run(weights, size, options.num_sub_iterations, drop_unused)
    (trained,) = train_sizes(corpus, [options], Context(Workers(2), QUIET))
    ours = [piece.decode() for piece, _ in trained]
    return training, expected, ours, size


@pytest.mark.slow
@pytest.mark.parametrize("drop_unused", [True, False])
def test_pieces_are_those_of_the_definition_where_no_tie_decides(drop_unused: bool) -> None:
    compared = smaller = 0
    for seed in range(200):
        training, expected, ours, size = both(seed, drop_unused)
        if training.tie:
            continue
        compared += 1
        smaller += len(expected) < size
        assert sorted(ours) == sorted(expected), seed
    assert compared > 100
    assert (smaller > 30) == drop_unused
