"""Lattices and their copies are independent: a change to one does not change the other."""

from __future__ import annotations

import pytest

from spmcompat.runtime.workers import Workers
from spmcompat.unigram.em.steps import best_path_counts, expected_counts, log_likelihood
from spmcompat.unigram.lattice.lattices import Lattices
from spmcompat.unigram.pieces import Pieces
from spmcompat.unigram.pruning.pruning import drop_unreachable, prune_flat
from tests.unit import stages


def sums(lattices: Lattices, workers: Workers) -> list[object]:
    expected = expected_counts(lattices, 3, workers)
    best = best_path_counts(lattices, 3, workers)
    size = len(lattices.pieces)
    return [
        list(lattices.pieces),
        [expected[piece] for piece in range(size)],
        [best[piece] for piece in range(size)],
        log_likelihood(lattices, workers),
    ]


def pruned(lattices: Lattices, size: int, workers: Workers) -> Lattices:
    pieces, new_ids = prune_flat(lattices.pieces, size)
    lattices.renumber(pieces, new_ids, workers)
    return lattices


@pytest.mark.slow
@pytest.mark.parametrize("after_a_pass", [False, True])
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("name", [f"copy/{number}" for number in range(20)])
def test_a_copy_and_its_original_are_as_if_they_were_alone(
    name: str, count: int, after_a_pass: bool
) -> None:
    case, workers = stages.random_case(name), Workers(count)

    def new() -> Lattices:
        return Lattices(case.corpus, stages.ours(case.pieces), workers)

    size = len(case.pieces)
    untouched = sums(new(), workers)
    larger = sums(pruned(new(), 2 * size // 3, workers), workers)
    smaller = sums(pruned(pruned(new(), 2 * size // 3, workers), size // 3, workers), workers)

    original = new()
    if after_a_pass:
        sums(original, workers)
    first, second = original.copy(), original.copy()
    assert sums(pruned(first, 2 * size // 3, workers), workers) == larger
    assert sums(original, workers) == untouched
    assert sums(pruned(original, 2 * size // 3, workers), workers) == larger
    third = original.copy()
    assert sums(pruned(original, size // 3, workers), workers) == smaller
    del original
    assert sums(third, workers) == larger
    assert sums(first, workers) == larger
    assert sums(second, workers) == untouched


def test_a_copy_has_scores_of_its_own() -> None:
    case, workers = stages.random_case("copy/scores"), Workers(1)
    lattices = Lattices(case.corpus, stages.ours(case.pieces), workers)
    before = sums(lattices, workers)
    copy = lattices.copy()
    copy.rescore(Pieces([(piece, 2 * score) for piece, score in lattices.pieces]))
    assert sums(copy, workers) != before
    assert sums(lattices, workers) == before


@pytest.mark.parametrize("workers", [5, 12, 40])
def test_more_workers_build_the_same_lattices_in_more_parts(workers: int) -> None:
    for number in range(20):
        case = stages.random_case(f"parts/{number}")
        found = [
            sums(Lattices(case.corpus, stages.ours(case.pieces), Workers(count)), Workers(1))
            for count in (1, workers)
        ]
        assert found[0] == found[1]


def test_an_empty_piece_is_in_no_lattice() -> None:
    case, workers = stages.random_case("empty"), Workers(1)
    pieces = list(stages.ours(case.pieces))
    with_empty = Pieces([*pieces, (b"", -1.0)])
    assert list(drop_unreachable(with_empty, workers)) == list(
        drop_unreachable(Pieces(pieces), workers)
    )
    lattices = Lattices(case.corpus, with_empty, workers)
    expected = expected_counts(lattices, 1, workers)
    alone = expected_counts(Lattices(case.corpus, Pieces(pieces), workers), 1, workers)
    assert expected[len(pieces)] == 0
    assert [expected[i] for i in range(len(pieces))] == [alone[i] for i in range(len(pieces))]
