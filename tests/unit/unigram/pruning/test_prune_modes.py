"""Exact pruning, compared with brute force, and flat pruning."""

from __future__ import annotations

import math
import os
import random

import pytest

from spmcompat.runtime.workers import Workers
from spmcompat.unigram.em.steps import best_path_counts
from spmcompat.unigram.lattice.lattices import Lattices
from spmcompat.unigram.pieces import Pieces
from spmcompat.unigram.pruning.pruning import find_exact_losses, prune_flat
from tests.oracle.characters import Options
from tests.unit import stages
from tests.unit.stages import Case

# The number of corpora in each of ten tests; SPMCOMPAT_PRUNINGS=100 gives a thousand in all.
BATCH = int(os.environ.get("SPMCOMPAT_PRUNINGS", "10"))

Scores = dict[str, float]


def best_path(pretoken: str, scores: Scores, unknown: set[str], unknown_score: float) -> list[str]:
    """Return the best segmentation, computed in double, or an empty list if there is none."""
    best: list[tuple[float, list[str]]] = [(0.0, [])]
    for end in range(1, len(pretoken) + 1):
        found: tuple[float, list[str]] = (-math.inf, [])
        for begin in range(end):
            text = pretoken[begin:end]
            score = scores.get(text, unknown_score if text in unknown else -math.inf)
            if best[begin][0] + score > found[0]:
                found = (best[begin][0] + score, [*best[begin][1], text])
        best.append(found)
    return best[-1][1]


def cost(case: Case, scores: Scores, unknown: set[str], unknown_score: float) -> float:
    total = 0.0
    for pretoken, count in case.counted:
        path = best_path(pretoken, scores, unknown, unknown_score)
        if not path:
            return math.inf
        total -= count * sum(scores.get(text, unknown_score) for text in path)
    return total


def losses_by_brute_force(case: Case) -> dict[str, float]:
    """Segment the whole corpus without each piece in turn. The other scores stay the same."""
    scores = {text: float(score) for text, score in case.pieces}
    unknown = {c for pretoken, _ in case.counted for c in pretoken if c not in scores}
    unknown_score = min(scores.values()) - 10
    before = cost(case, scores, unknown, unknown_score)
    result = {}
    for piece in scores:
        rest = {text: score for text, score in scores.items() if text != piece}
        result[piece] = cost(case, rest, unknown, unknown_score) - before
    return result


def without_ties(case: Case, dice: random.Random) -> list[tuple[str, float]]:
    return [(text, -dice.uniform(0.5, 12)) for text, _ in case.pieces]


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(10))
def test_exact_losses_equal_brute_force(batch: int) -> None:
    for number in range(BATCH):
        name = f"exact/{batch}/{number}"
        case = stages.random_case(name)
        case.pieces[:] = without_ties(case, random.Random(name))  # type: ignore[assignment]
        expected = losses_by_brute_force(case)
        pieces = stages.ours(case.pieces)
        for workers in (Workers(1), Workers(3)):
            lattices = Lattices(case.corpus, pieces, workers)
            losses = find_exact_losses(lattices, workers).as_list()
            for (piece, _), loss in zip(case.pieces, losses, strict=True):
                assert (loss or 0.0) == pytest.approx(expected[piece], rel=1e-4, abs=1e-3), name


def test_exact_loss_finds_segmentations_across_the_borders_of_a_piece() -> None:
    """Without "thou", court|house is better than replacing "thou" with its alternative t|h|o|u."""
    case = stages.both([("courthouse", 3)], Options(), dummy=False)
    scores = {"cour": -1.0, "court": -4.0, "house": -4.0, "thou": -1.0, "se": -1.0}
    scores |= dict.fromkeys("courthse", -20.0)
    workers = Workers(1)
    pieces = Pieces([(text.encode(), score) for text, score in scores.items()])
    lattices = Lattices(case.corpus, pieces, workers)
    losses = find_exact_losses(lattices, workers).as_list()
    by_text = dict(zip(scores, losses, strict=True))
    assert by_text["thou"] == pytest.approx(3 * (8 - 3))
    assert by_text["court"] is None


def test_exact_pruning_keeps_needed_pieces_and_drops_unused_ones() -> None:
    """Pieces that the text needs stay, even if there are more of them than the requested size."""
    case = stages.both([("ab", 5), ("c", 1)], Options(character_coverage=1.0), dummy=False)
    texts = {"a": -1.0, "ab": -1.5, "b": -1.0, "c": -9.0}
    workers = Workers(1)
    lattices = Lattices(
        case.corpus, Pieces([(text.encode(), score) for text, score in texts.items()]), workers
    )
    losses = find_exact_losses(lattices, workers)
    assert losses.as_list() == [None, pytest.approx(5 * 0.5), None, math.inf]
    case.corpus.drop_texts()  # as training does
    left, new_ids = find_exact_losses(lattices, workers).select(1)
    assert [piece for piece, _ in left] == [b"c"]
    left, new_ids = find_exact_losses(lattices, workers).select(3)
    assert [piece for piece, _ in left] == [b"c", b"ab"]
    lattices.renumber(left, new_ids, workers)
    assert list(best_path_counts(lattices, 1, workers)) == [1.0, 5.0]


def test_flat_pruning_keeps_the_highest_scores() -> None:
    items = [(b"a", -3.0), (b"b", -1.0), (b"c", -2.0), (b"d", -2.0), (b"e", -9.0)]
    assert list(prune_flat(Pieces(items), 3)[0]) == items[1:4]
    assert list(prune_flat(Pieces(items), 2)[0]) == items[1:3]
    assert list(prune_flat(Pieces(items), 9)[0]) == items
