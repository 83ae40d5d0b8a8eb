"""Seeds of 0.2.1 and 0.2.2, compared with the oracle.

In 0.2.2, the seeds depend on where the text ends (text_end.hpp).
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from spmcompat.releases import V0_2_1, V0_2_2, Release
from spmcompat.runtime.context import Context
from spmcompat.runtime.workers import Workers
from spmcompat.unigram.seeding.seeds import seed_from_corpus
from tests.oracle import character_tree
from tests.oracle.characters import cover
from tests.searches import examples
from tests.unit import stages
from tests.unit.unigram.seeding.test_seeds import ALL


def lines_that_repeat(dice: random.Random) -> list[str]:
    lines = [line for line, _ in stages.random_lines(dice)]
    if dice.random() < 0.4:
        lines = [dice.choice(lines) for _ in range(dice.randint(1, 14))]
    if dice.random() < 0.4:
        return runs_at_the_end(lines, dice)
    return lines


def runs_at_the_end(lines: list[str], dice: random.Random) -> list[str]:
    """Return lines of which the last ones recur many times, in runs of different lengths."""
    last = lines[-dice.randint(1, min(3, len(lines))) :]
    for _ in range(dice.randint(1, 3)):
        lines = [*lines, dice.choice(lines), *last * dice.randint(1, 12)]
    return lines


@pytest.mark.slow
@pytest.mark.parametrize("number", range(examples(150)))
@pytest.mark.parametrize(
    ("release", "seed"),
    [(V0_2_1, character_tree.seed), (V0_2_2, character_tree.seed_from_cut_nodes)],
    ids=["0.2.1", "0.2.2"],
)
def test_seeds_of_old_releases_equal_the_oracle(
    number: int, release: Release, seed: character_tree.Seeder
) -> None:
    dice = random.Random(f"tree/{number}")
    lines, options, dummy = lines_that_repeat(dice), stages.random_options(dice), number % 3 > 0
    given = stages.corpus_options(options)
    corpus = stages.read(lines, add_dummy_prefix=dummy, release=release, **given)
    sentences = cover([(stages.normalized(line, options, dummy), 1) for line in lines], options)[0]
    for limit in (ALL, 3):
        expected = stages.plain(seed(sentences, replace(options, seed_sentencepiece_size=limit)))
        rule = stages.seed_options(limit)._replace(release=release)
        context = Context(Workers(2), stages.QUIET)
        assert list(seed_from_corpus(corpus, rule, context)) == expected
